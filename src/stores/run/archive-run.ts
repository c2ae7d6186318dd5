import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isFileError, unwritable } from '../file-error.ts';
import { makeFolder } from '../make-folder.ts';
import { freePath } from '../own-place.ts';
import { JOURNAL_FILE } from './run-directory.ts';
import { LOCK_FILE, takeRunLock } from './run-lock.ts';

/**
 * Moves a run out of the way of a new one, to `PATH.old-1`, `.old-2` …, and answers with its new path.
 * Undefined when there is no run at `path`. Throws `RUN_LOCKED` while it is being written.
 *
 * Replies stay at `path`: they are paid for, whichever run asks. Scores do not, unless they are kept under all that scoring
 * depends on: it may be what has changed.
 */
export async function archiveRun(path: string, options: ArchiveOptions = {}): Promise<string | undefined> {
  const directory = resolve(path);
  if (!existsSync(join(directory, JOURNAL_FILE))) return undefined;
  try {
    return await moveAside(directory, options);
  } catch (error) {
    throw isFileError(error) ? unwritable(directory, error) : error;
  }
}

type ArchiveOptions = { readonly areScoresKept?: boolean | undefined };

async function moveAside(directory: string, { areScoresKept = false }: ArchiveOptions): Promise<string> {
  const lock = await takeRunLock(directory);
  const aside = freePath(`${directory}.old-`);
  try {
    const isCacheKept = areScoresKept ? existsSync(join(directory, 'cache')) : await forgetRollouts(directory);
    await rename(directory, aside);
    await rm(join(aside, LOCK_FILE), { force: true }); // Ours: it moved along.
    if (isCacheKept) await moveCache(aside, directory);
    return aside;
  } finally {
    await lock.release(); // For a folder that could not be moved; otherwise there is nothing left at its place.
  }
}

async function moveCache(from: string, to: string): Promise<void> {
  await makeFolder(to);
  // Somebody may have begun a run here in between. Then the cache stays with the old one.
  await rename(join(from, 'cache'), join(to, 'cache')).catch(() => undefined);
}

/** Deletes the scored rollouts in the cache of a run that nobody writes; its replies stay. Answers whether that is done. */
async function forgetRollouts(directory: string): Promise<boolean> {
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
