import { constants } from 'node:fs';
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseJson } from '../../core/text/index.ts';
import { asUnwritable, makeFolder, NO_FOLLOW, orIfMissing } from '../own-files.ts';
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

/**
 * Writes a look into the ledger of a folder of runs, unless it stands there already. Lines are only ever added, each in
 * one write, so that processes need not wait for each other. Throws `RUN_UNWRITABLE`.
 * `place` is the number of this look among the `total` looks at these tasks, and never changes.
 */
export async function countTestLook(directory: string, entry: LookEntry) {
  const path = join(directory, TEST_LOOKS_FILE);
  try {
    if (!(await runsThatLooked(path, entry)).includes(entry.run)) await append(path, entry);
    const runs = await runsThatLooked(path, entry);
    return { place: runs.indexOf(entry.run) + 1, total: runs.length };
  } catch (error) {
    throw asUnwritable(path, error);
  }
}

/** Two processes may have written the same look at the same time: it counts once. */
async function runsThatLooked(path: string, { tasks }: LookEntry): Promise<string[]> {
  const lines = (await orIfMissing(readFile(path, 'utf8'), '')).split('\n');
  // A line that a crash tore is no entry: its writer has seen nothing yet, and will write it again.
  const entries = lines.map((line) => parseJson(line) as Partial<LookEntry> | null | undefined);
  const runs = entries.map((entry) => (entry?.tasks === tasks ? entry.run : undefined));
  return [...new Set(runs.filter((run) => typeof run === 'string'))];
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
