import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reduce } from '../../core/run/reduce/reduce.ts';
import { emptyRun, type RunState, STATE_FORMAT } from '../../core/run/run-state.ts';
import type { Views } from '../../core/run/run-store.ts';
import { isFileError } from '../file-error.ts';
import { foldJournal } from './journal.ts';

const KEPT_FILE = 'state.json';

/** Shorter journals are folded in no time. */
const LEAST_BYTES = 4 * 2 ** 20;

/** The last bytes of a journal whose lines are checked. */
const TAIL = /,"check":"([0-9a-f]{16})"\}\n$/;
const TAIL_BYTES = 29;

type JournalEnd = { readonly size: number; readonly check: string };

const sumOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The state at the end of a long journal as a view: with the check of the last line, which covers all lines, and its own. */
export async function keptState(journal: string, { size, check }: JournalEnd): Promise<Views> {
  if (size < LEAST_BYTES) return {};
  let state = emptyRun;
  await foldJournal(journal, (event) => {
    state = reduce(state, event);
  });
  const text = JSON.stringify(state);
  return { [KEPT_FILE]: `${JSON.stringify({ format: STATE_FORMAT, size, check, sum: sumOf(text) })}\n${text}\n` };
}

/** The state that was kept when the journal of a run was as it is now; nothing when there is none. */
export async function readKeptState(directory: string, journal: string): Promise<RunState | undefined> {
  const end = await readEnd(join(directory, journal));
  if (end === undefined || end.size < LEAST_BYTES) return undefined;
  const [head = '', text = ''] = (await readFile(join(directory, KEPT_FILE), 'utf8').catch(() => '')).split('\n');
  const expected = { format: STATE_FORMAT, ...end, sum: sumOf(text) };
  return head === JSON.stringify(expected) ? JSON.parse(text) : undefined;
}

async function readEnd(path: string): Promise<JournalEnd | undefined> {
  const file = await open(path, 'r').catch((error) => {
    if (isFileError(error)) return undefined; // whoever folds it says what is wrong
    throw error;
  });
  try {
    const size = (await file?.stat())?.size ?? 0;
    const tail = await file?.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, Math.max(0, size - TAIL_BYTES));
    const check = TAIL.exec(tail?.buffer.toString('latin1') ?? '')?.[1];
    return check === undefined ? undefined : { size, check };
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}
