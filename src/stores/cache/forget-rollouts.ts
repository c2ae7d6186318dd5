import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Deletes the scored rollouts in the cache of a run that nobody writes; its replies stay. Answers whether that is done. */
export async function forgetRollouts(directory: string): Promise<boolean> {
  const path = join(directory, 'cache', 'cache.db');
  if (!existsSync(path)) return false;
  const { default: Database } = await import('libsql');
  const database = new Database(path);
  try {
    database.exec('DELETE FROM rollouts');
    database.pragma('wal_checkpoint(TRUNCATE)');
    return true;
  } catch {
    return false; // damaged, or no cache of ours
  } finally {
    database.close();
  }
}
