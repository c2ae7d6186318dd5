import { existsSync } from 'node:fs';
import { lstat, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import {
  type OpenOptions,
  type OpenRunStore,
  type RunStore,
  type TestLook,
  type Views,
  WHOLE_FOLDER,
} from '../../core/run/index.ts';
import { nameProblem } from '../../core/text/index.ts';
import { openCaches } from '../cache/text-cache.ts';
import {
  asUnwritable,
  freePath,
  isForbidden,
  isMissing,
  isTaken,
  makeFolder,
  makeOwnFolder,
  shownPath,
  unreadable,
} from '../own-files.ts';
import { LATER_FILES, openJournal, readJournal, requireNotEmptied, stateKeeper } from './journal.ts';
import { LEDGER_FILE, openLedger } from './ledger-file.ts';
import { openProgressFile, PROGRESS_FILE } from './progress-file.ts';
import { LOCK_FILE, takeRunLock } from './run-lock.ts';
import { countTestLook, type LookEntry } from './test-looks.ts';

export const JOURNAL_FILE = 'events.jsonl';

/** A run kept in a folder: the journal is the truth, everything else in it can be made again. */
export function runDirectory(path: string): RunStore {
  const directory = resolve(path); // A program may change its working directory while the run is open.
  return {
    name: path,
    read: () => readJournal(join(directory, JOURNAL_FILE)),
    open: (options = {}) => openDirectory(directory, options),
  };
}

/** A run is copied from one machine to another. One that is there already opens, whatever its name is. */
export async function requireRunName(path: string): Promise<void> {
  const problem = nameProblem(basename(path));
  if (problem === undefined || existsSync(path)) return;
  throw new SkillError('RUN_UNWRITABLE', problem, { hint: 'Choose another name for the run.' });
}

async function openDirectory(directory: string, options: OpenOptions): Promise<OpenRunStore> {
  await requireRunName(directory);
  const missing = missingFolders(join(directory, 'cache'));
  const taken: Release[] = [];
  try {
    await makeFolder(directory);
    return await takeAll(directory, taken, options);
  } catch (error) {
    await releaseAll(taken);
    for (const folder of missing) await rmdir(folder).catch(() => undefined); // Stays when somebody else uses it.
    throw asUnwritable(directory, error);
  }
}

type Release = () => Promise<void>;

async function takeAll(directory: string, taken: Release[], options: OpenOptions): Promise<OpenRunStore> {
  const lock = await takeRunLock(directory);
  taken.push(lock.release);
  await requireNotEmptied(join(directory, JOURNAL_FILE));
  // Files about a run whose journal was deleted would say that the new journal, while it has no event, was emptied.
  if (!existsSync(join(directory, JOURNAL_FILE)))
    for (const name of LATER_FILES) await rm(join(directory, name), { force: true });
  const journal = await openJournal(join(directory, JOURNAL_FILE));
  taken.push(journal.close);
  const { close, ...caches } = await openCaches(directory, options);
  taken.push(async () => close());
  const ledger = await openLedger(join(directory, LEDGER_FILE));
  taken.push(async () => ledger.close());
  const progress = openProgressFile(join(directory, PROGRESS_FILE));
  taken.push(progress.close);
  const write = viewWriter(directory, journal.requireInPlace);
  return {
    caches,
    ledger,
    append: journal.append,
    writeViews: write,
    keepState: stateKeeper(journal, write),
    noteProgress: progress.note,
    noteNotice: progress.noteNotice,
    lookAtTest: (look) => lookAtTest(directory, look),
    [Symbol.asyncDispose]: () => releaseAll(taken),
  };
}

/** Its number, and not how many there are: after a crash another run may have looked before this one asks again. */
async function lookAtTest(directory: string, { measurement, ...look }: TestLook): Promise<number> {
  const run = `${basename(directory)} ${measurement}`;
  const entry: LookEntry = { at: new Date().toISOString(), by: 'train', run, ...look };
  const beside = countTestLook(dirname(directory), entry);
  // Where nothing may be written beside the run, it counts its own look alone: better than a run without an end.
  const { place } = await beside.catch((error) => {
    if (!isForbidden(error.cause)) throw error;
    return countTestLook(directory, entry);
  });
  return place;
}

/** One call at a time, since two would write the same drafts; and none once the run was deleted, which would begin it again. */
function viewWriter(directory: string, requireInPlace: () => Promise<void>): (views: Views) => Promise<void> {
  let last = Promise.resolve();
  return (views) => {
    last = last
      .catch(() => undefined)
      .then(requireInPlace)
      .then(() => writeViews(directory, views))
      .catch((error) => {
        throw asUnwritable(directory, error);
      });
    return last;
  };
}

/** Last taken, first released. All are released, whatever one of them throws; a second call finds nothing to do. */
async function releaseAll(taken: Release[]): Promise<void> {
  const release = taken.pop();
  if (release === undefined) return;
  try {
    await release();
  } finally {
    await releaseAll(taken);
  }
}

/** The folders on the way to `path` that do not exist yet, innermost first. */
const missingFolders = (path: string): string[] =>
  existsSync(path) || dirname(path) === path ? [] : [path, ...missingFolders(dirname(path))];

/** Writes each view below `directory`. A reader finds the old text or the new one, never half of it. */
async function writeViews(directory: string, views: Views): Promise<void> {
  const files = Object.entries(views).map(([name, text]) => ({ path: pathWithin(directory, name), text }));
  const folders = new Set(files.map((file) => dirname(file.path)));
  for (const folder of folders) if (folder !== directory) await makeOwnFolder(directory, folder);
  const writing = files.map(async ({ path, text }) => {
    await writeDraft(`${path}.tmp`, text);
    await rename(`${path}.tmp`, path);
  });
  await Promise.allSettled(writing); // the next views would write the same drafts
  await Promise.all(writing);
  if (Object.keys(views).some((name) => name.startsWith(WHOLE_FOLDER))) await dropEarlier(directory, views);
}

async function dropEarlier(directory: string, views: Views): Promise<void> {
  const entries = await readdir(join(directory, WHOLE_FOLDER), { recursive: true, withFileTypes: true });
  const kept = new Set(Object.keys(views).map((name) => pathWithin(directory, name)));
  const files = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of files) if (!kept.has(path)) await rm(path, { force: true });
}

/** Into a new file. What stands there was left by a crash, or is a link that somebody planted: it goes, and is not followed. */
async function writeDraft(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch(async (error) => {
    if (!isTaken(error)) throw error;
    await rm(path);
    await writeFile(path, text, { flag: 'wx' });
  });
}

function pathWithin(directory: string, name: string): string {
  const path = normalize(name);
  const isWithin = name !== '' && path !== '.' && !isAbsolute(path) && !path.split(/[/\\]/).includes('..');
  if (isWithin) return join(directory, path);
  const message = `A view must lie within ${shownPath(directory)}, got the path "${name}"`;
  throw new SkillError('RUN_UNWRITABLE', message, { hint: 'Give a relative path without "..".' });
}

export type RunListing = {
  readonly name: string;
  readonly path: string;
  /** When the journal was last written. */
  readonly modifiedAt: Date;
};

/** The runs right below `root`, newest first; none when there is no such folder. Reads no journal. */
export async function listRuns(root: string): Promise<RunListing[]> {
  const names = await readdir(root).catch((error) => {
    if (isMissing(error)) return [];
    throw unreadable(root, error);
  });
  const listings = await Promise.all(names.map((name) => toListing(root, name)));
  return listings.flat().sort((a, b) => Number(b.modifiedAt) - Number(a.modifiedAt) || a.name.localeCompare(b.name));
}

/** A folder that cannot be read may hold a run, so it is listed. Opening it gives the error. */
async function toListing(root: string, name: string): Promise<RunListing[]> {
  const path = join(root, name);
  try {
    const journal = await stat(join(path, JOURNAL_FILE));
    return journal.isFile() ? [{ name, path, modifiedAt: journal.mtime }] : [];
  } catch (error) {
    return isMissing(error) ? [] : [{ name, path, modifiedAt: (await lstat(path)).mtime }];
  }
}

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
  return moveAside(directory, options).catch((error) => Promise.reject(asUnwritable(directory, error)));
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
