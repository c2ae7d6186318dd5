import { oneLine } from '../core/text/index.ts';
import { nameSome } from './layout.ts';

const MOST_NAMED = 4;

type Found = { readonly what: string; readonly tasks: readonly string[] };

/** What is wrong with tasks, in one line, with the first of them. */
export const findingText = ({ what, tasks }: Found): string =>
  tasks.length === 0 ? what : `${what}: ${nameSome(tasks.map(oneLine), MOST_NAMED)}`;

/** What a run knew about its tasks. */
export const aboutTasksWords = (lines: readonly string[] = []): string[] =>
  lines.length === 0 ? [] : [`About the tasks: ${lines.map((line) => line.replace(/\.$/, '')).join('. ')}.`];
