import { existsSync } from 'node:fs';
import { join } from 'node:path';

export const JOURNAL = 'pending.json';

/** Whether a crash interrupted a transaction. The next change takes it back. */
export const isCutOff = (folder: string): boolean => existsSync(join(folder, JOURNAL));
