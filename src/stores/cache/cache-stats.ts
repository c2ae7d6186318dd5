import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import type { Database } from '../own-database.ts';
import { shownPath } from '../own-files.ts';
import { isRunLocked } from '../run/run-lock.ts';
import { countRows, fromStorable } from './cache-database.ts';

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
  const bytes = await cacheBytes(directory);
  return readCache<CacheStats>(directory, {
    read: (database) => ({ replies: countRows(database, 'replies'), rollouts: countRows(database, 'rollouts'), bytes }),
    missing: { replies: 0, rollouts: 0, bytes: 0 },
    damaged: { replies: 0, rollouts: 0, bytes, isDamaged: true },
  });
}

/** The replies of a run that were kept after a mark was taken, in order. Reads only; of a damaged cache there are none. */
export function repliesSince(directory: string, mark: number): Promise<string[]> {
  const statement = 'SELECT CAST(value AS BLOB) FROM replies WHERE id > ? ORDER BY id';
  const read = (database: Database) => {
    const rows = database.prepare<[number]>(statement).raw().all(mark) as [Buffer][];
    return rows.map(([value]) => fromStorable(value.toString()));
  };
  return readCache<string[]>(directory, { read, missing: [], damaged: [] });
}

type Reading<Answer> = {
  readonly read: (database: Database) => Answer;
  readonly missing: Answer;
  readonly damaged: Answer;
};

async function readCache<Answer>(directory: string, { read, missing, damaged }: Reading<Answer>): Promise<Answer> {
  const path = join(directory, 'cache', 'cache.db');
  if (!existsSync(path)) return missing;
  const { default: Driver } = await import('libsql');
  const database = new Driver(`file:${path}?mode=ro`);
  try {
    return read(database);
  } catch {
    return damaged;
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
