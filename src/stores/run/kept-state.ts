import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OpenRunStore, type RunState, STATE_FORMAT, type Views } from '../../core/run/index.ts';
import { isFileError } from '../file-error.ts';
import type { Journal, JournalPlace } from './journal.ts';

const KEPT_FILE = 'state.json';

/** What a journal must have grown by: less is folded in no time, and a state of many megabytes is not written at each step. */
const LEAST_BYTES = 4 * 2 ** 20;
const LEAST_SHARE = 0.1;

/** The state at a place of a journal. */
export type KeptState = { readonly place: JournalPlace; readonly state: RunState };

/** Keeps a state as a view when the journal has grown by much since the last one, and at the end of a run. */
export function stateKeeper(
  journal: Pick<Journal, 'end'>,
  write: (views: Views) => Promise<void>,
): NonNullable<OpenRunStore['keepState']> {
  let keptSize = 0;
  return async (state, { isLast = false } = {}) => {
    const place = journal.end();
    const isLong = place.size >= LEAST_BYTES;
    const growth = place.size - keptSize;
    const isDue = isLast ? growth > 0 : growth >= Math.max(LEAST_BYTES, LEAST_SHARE * keptSize);
    if (!isLong || !isDue) return;
    await write({ [KEPT_FILE]: keptText({ place, state }) });
    keptSize = place.size;
  };
}

function keptText(kept: KeptState): string {
  const text = JSON.stringify(kept);
  return `${headOf(text)}\n${text}\n`;
}

const headOf = (text: string) =>
  JSON.stringify({ format: STATE_FORMAT, sum: createHash('sha256').update(text).digest('hex') });

/** The state that was kept of the journal of a run, if the journal still has the line that it was kept after. */
export async function readKeptState(directory: string, journal: string): Promise<KeptState | undefined> {
  const [head, text = ''] = (await readFile(join(directory, KEPT_FILE), 'utf8').catch(() => '')).split('\n');
  if (head !== headOf(text)) return undefined;
  const kept: KeptState = JSON.parse(text);
  return (await hasPlace(join(directory, journal), kept.place)) ? kept : undefined;
}

/** By the check of the last line before it, which covers all lines before it. */
async function hasPlace(path: string, { size, check }: JournalPlace): Promise<boolean> {
  const end = `,"check":"${check}"}\n`;
  try {
    await using file = await open(path, 'r');
    const { buffer } = await file.read(Buffer.alloc(end.length), 0, end.length, size - end.length);
    return buffer.toString('latin1') === end;
  } catch (error) {
    if (isFileError(error)) return false; // folding it says what is wrong
    throw error;
  }
}
