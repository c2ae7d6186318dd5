import { stat } from 'node:fs/promises';
import { noView, type Problem, projectRun, type RunView } from '../core/page/index.ts';
import type { RunEvent } from '../core/run/index.ts';
import { growing } from '../core/text/index.ts';
import { foldJournal, type JournalPlace } from '../stores/index.ts';
import { problemOf } from './failure.ts';

/** A run as far as its journal could be read. */
export type Folded = {
  readonly view: RunView;
  /** The types of its events, in order. */
  readonly types: readonly string[];
  readonly problem?: Problem;
  /** Where reading continues; undefined behind a line that cannot be read. */
  readonly place?: JournalPlace;
  /** Which file that was, and its size and time. */
  readonly file: string;
  readonly stamp: string;
};

export const nothingFolded: Folded = { view: noView, types: [], file: '', stamp: '' };

const VANISHED: Problem = {
  message: 'The folder of this run is gone: it was moved or deleted.',
  hint: 'What you see is the last that was read. It continues when the folder is back.',
};

/** Reads what is new. A journal that was replaced is read again from its beginning. Never throws: it says what is wrong. */
export async function foldOn(journal: string, known: Folded): Promise<Folded> {
  const found = await stat(journal).catch(() => undefined);
  if (found === undefined) return known.problem === VANISHED ? known : { ...known, problem: VANISHED, stamp: '' };
  const file = `${found.dev}:${found.ino}`;
  const stamp = `${file}:${found.size}:${found.mtimeMs}`;
  if (stamp === known.stamp) return known;
  const isLonger = known.place !== undefined && known.file === file && found.size >= known.place.size;
  const more = isLonger ? await fold(journal, known) : undefined;
  const folded = more && !more.problem ? more : await fold(journal, nothingFolded);
  return { ...folded, file, stamp };
}

async function fold(journal: string, from: Folded): Promise<Folded> {
  let { view } = from;
  const project = growing(projectRun);
  const types = from.types.slice();
  const take = (event: RunEvent) => {
    view = project(view, event);
    types.push(event.type);
  };
  try {
    const place = await foldJournal(journal, take, from.place);
    return { view, types, place, file: '', stamp: '' };
  } catch (error) {
    return { view, types, problem: problemOf(error), file: '', stamp: '' };
  }
}
