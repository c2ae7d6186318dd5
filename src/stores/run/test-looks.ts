import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isFileError, isMissing, makeFolder, NO_FOLLOW, unwritable } from '../own-files.ts';
import { syncDirectory } from './journal.ts';

const TEST_LOOKS_FILE = 'test_looks.jsonl';

/** One look at a set of test tasks. */
export type LookEntry = {
  readonly at: string;
  /** The command that looked. */
  readonly by: 'train' | 'eval' | 'calibrate';
  /** What looked. The same one is counted once. */
  readonly run: string;
  /** Hash of the tasks: looks at others are counted apart. */
  readonly tasks: string;
  /** Hashes of the skills that were measured, by what they are called. */
  readonly subjects: Readonly<Record<string, string>>;
};

type Counted = {
  /** The number of this look among those at these tasks. Never changes. */
  readonly place: number;
  /** All looks at these tasks so far. */
  readonly total: number;
};

/**
 * Writes a look into the ledger of a folder of runs, unless it stands there already. Lines are only ever added, each in
 * one write, so that processes need not wait for each other. Throws `RUN_UNWRITABLE`.
 */
export async function countTestLook(directory: string, entry: LookEntry): Promise<Counted> {
  const path = join(directory, TEST_LOOKS_FILE);
  try {
    if (!(await runsThatLooked(path, entry)).includes(entry.run)) await append(path, entry);
    const runs = await runsThatLooked(path, entry);
    return { place: runs.indexOf(entry.run) + 1, total: runs.length };
  } catch (error) {
    throw isFileError(error) ? unwritable(path, error) : error;
  }
}

/** Two processes may have written the same look at the same time: it counts once. */
async function runsThatLooked(path: string, { tasks }: LookEntry): Promise<string[]> {
  const lines = (await readText(path)).split('\n');
  const entries = lines.map(parseEntry).filter((entry) => entry?.tasks === tasks);
  return [...new Set(entries.map((entry) => entry!.run))];
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((error) => {
    if (isMissing(error)) return '';
    throw error;
  });
}

/** A line that a crash tore is no entry: its writer has seen nothing yet, and will write it again. */
function parseEntry(line: string): Pick<LookEntry, 'run' | 'tasks'> | undefined {
  try {
    const { run, tasks } = JSON.parse(line);
    return typeof run === 'string' && typeof tasks === 'string' ? { run, tasks } : undefined;
  } catch {
    return undefined;
  }
}

async function append(path: string, entry: LookEntry): Promise<void> {
  await makeFolder(dirname(path));
  const file = await open(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW, 0o666);
  try {
    const { size } = await file.stat();
    const start = (await endsWithinLine(file, size)) ? '\n' : ''; // nothing is glued to a torn line
    await file.appendFile(`${start}${JSON.stringify(entry)}\n`);
    await file.datasync();
    if (size === 0) await syncDirectory(dirname(path));
  } finally {
    await file.close();
  }
}

async function endsWithinLine(file: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() !== '\n';
}
