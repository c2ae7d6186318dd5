import { dirname, sep } from 'node:path';
import type { Located } from '../../agents/index.ts';
import type { Mount } from '../../core/contracts/index.ts';

/** Shown to every command anyway. */
const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/', '/lib64/', '/opt/', '/nix/store/'];

/**
 * What a CLI's program needs of the disk: itself; where npm installed it, all that lies beside it; and Node. Under their own
 * names, since programs look for their parts by them.
 */
export function programMounts({ path }: Located): Mount[] {
  return [rootOf(path), process.execPath]
    .filter((file) => !SYSTEM.some((folder) => file.startsWith(folder)))
    .map((file) => ({ from: file, to: file }));
}

function rootOf(path: string): string {
  const marker = `${sep}node_modules${sep}`;
  const at = path.indexOf(marker);
  return at === -1 ? path : path.slice(0, at + marker.length - 1);
}

/** Where its program and Node are found. */
export const programFolders = ({ path }: Located) => [...new Set([dirname(path), dirname(process.execPath)])];
