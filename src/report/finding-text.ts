import type { RunState } from '../core/run/index.ts';
import { oneLine, plural } from '../core/text/index.ts';
import { searchEndText } from './event-lines.ts';
import { nameSome } from './layout.ts';

const MOST_NAMED = 4;

type Found = { readonly what: string; readonly tasks: readonly string[] };

/** What is wrong with tasks, in one line, with the first of them. */
export const findingText = ({ what, tasks }: Found): string =>
  tasks.length === 0 ? what : `${what}: ${nameSome(tasks.map(oneLine), MOST_NAMED)}`;

/** Why the search ended before its epochs were over. */
export const endWords = (state: RunState): string | undefined => {
  if (state.searchEnd === undefined) return undefined;
  const why = searchEndText(state.searchEnd, state).replace(/: the search ends$/, '');
  return `The search ended after ${plural(state.stepsDone, 'step')}: ${why}.`;
};

/** What a run knew about its tasks. */
export const aboutTasksWords = (lines: readonly string[] = []): string[] =>
  lines.length === 0 ? [] : [`About the tasks: ${lines.map((line) => line.replace(/\.$/, '')).join('. ')}.`];
