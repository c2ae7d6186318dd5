import { existsSync } from 'node:fs';
import { rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import type { OpenOptions, OpenRunStore, RunStore, TestLook, Views } from '../../core/run/index.ts';
import { openCaches } from '../cache/text-cache.ts';
import { isFileError, isForbidden, unwritable } from '../file-error.ts';
import { makeFolder } from '../make-folder.ts';
import { shownPath } from '../shown-path.ts';
import { openJournal, readJournal } from './journal.ts';
import { stateKeeper } from './kept-state.ts';
import { LEDGER_FILE, openLedger } from './ledger-file.ts';
import { openProgressFile, PROGRESS_FILE } from './progress-file.ts';
import { takeRunLock } from './run-lock.ts';
import { countTestLook, type LookEntry } from './test-looks.ts';
import { writeViews } from './write-views.ts';

export const JOURNAL_FILE = 'events.jsonl';

/** A run kept in a folder: the journal is the truth, everything else in it can be made again. */
export function runDirectory(path: string): RunStore {
  const directory = resolve(path); // A program may change its working directory while the run is open.
  return {
    name: path,
    async read() {
      await requireNotEmptied(directory);
      return readJournal(join(directory, JOURNAL_FILE));
    },
    open: (options = {}) => openDirectory(directory, options),
  };
}

/** Written after the first event and not before it: beside one of them a journal without a line has lost what it said. */
const LATER_FILES = ['summary.json', 'history.json', 'runtime_state.json'];

/** A run that was killed before its first event leaves an empty journal too, and begins. */
async function requireNotEmptied(directory: string): Promise<void> {
  const path = join(directory, JOURNAL_FILE);
  const journal = await stat(path).catch(() => undefined); // reading it says what is wrong
  const later = LATER_FILES.find((name) => existsSync(join(directory, name)));
  if (!journal?.isFile() || journal.size > 0 || later === undefined) return;
  const message = `${shownPath(path)} must have the events of this run, which has a ${later}, but it is empty`;
  throw new SkillError('JOURNAL_CORRUPT', message, {
    hint: 'Nothing was changed. Restore the file, or move this run away.',
  });
}

/** Files about a run whose journal was deleted would say of the new one, while it has no event, that it was emptied. */
async function removeLaterFiles(directory: string): Promise<void> {
  for (const name of LATER_FILES) await rm(join(directory, name), { force: true });
}

async function openDirectory(directory: string, options: OpenOptions): Promise<OpenRunStore> {
  const missing = missingFolders(join(directory, 'cache'));
  const taken: Release[] = [];
  try {
    await makeFolder(directory);
    return await takeAll(directory, taken, options);
  } catch (error) {
    await releaseAll(taken);
    for (const folder of missing) await rmdir(folder).catch(() => undefined); // Stays when somebody else uses it.
    throw isFileError(error) ? unwritable(directory, error) : error;
  }
}

type Release = () => Promise<void>;

async function takeAll(directory: string, taken: Release[], options: OpenOptions): Promise<OpenRunStore> {
  const lock = await takeRunLock(directory);
  taken.push(lock.release);
  await requireNotEmptied(directory);
  if (!existsSync(join(directory, JOURNAL_FILE))) await removeLaterFiles(directory);
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
        throw isFileError(error) ? unwritable(directory, error) : error;
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
function missingFolders(path: string): string[] {
  return existsSync(path) || dirname(path) === path ? [] : [path, ...missingFolders(dirname(path))];
}
