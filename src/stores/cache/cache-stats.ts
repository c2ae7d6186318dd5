import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { shownPath } from '../own-files.ts';
import { isRunLocked } from '../run/run-lock.ts';
import { countRows } from './cache-database.ts';

const FILES = ['cache.db', 'cache.db-wal', 'cache.db-shm'];

export type CacheStats = {
  readonly replies: number;
  readonly rollouts: number;
  readonly bytes: number;
  /** It cannot be read; the next run sets it aside. */
  readonly isDamaged?: true;
};

/** What the cache of a run holds and takes on disk. Reads only; nothing there is all zeros. */
export async function cacheStats(directory: string): Promise<CacheStats> {
  const path = join(directory, 'cache', 'cache.db');
  if (!existsSync(path)) return { replies: 0, rollouts: 0, bytes: 0 };
  const bytes = await cacheBytes(directory);
  const { default: Driver } = await import('libsql');
  const database = new Driver(`file:${path}?mode=ro`);
  try {
    return { replies: countRows(database, 'replies'), rollouts: countRows(database, 'rollouts'), bytes };
  } catch {
    return { replies: 0, rollouts: 0, bytes, isDamaged: true };
  } finally {
    database.close();
  }
}

/** Deletes the cache of a run that nobody writes to, and answers with the bytes that this freed. */
export async function clearCache(directory: string): Promise<number> {
  if (await isRunLocked(directory)) {
    const hint = 'Wait until it ends, or stop it.';
    throw new SkillError('RUN_LOCKED', `${shownPath(directory)} is being written`, { hint });
  }
  const bytes = await cacheBytes(directory);
  for (const name of FILES) await rm(join(directory, 'cache', name), { force: true });
  return bytes;
}

async function cacheBytes(directory: string): Promise<number> {
  const sizes = FILES.map((name) =>
    stat(join(directory, 'cache', name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
