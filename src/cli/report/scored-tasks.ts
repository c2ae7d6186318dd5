import type { Evaluation } from '../../core/contracts/index.ts';
import { plural } from '../../core/text/index.ts';

/** How many of `total` tasks have a score. */
export type TaskCount = { readonly scored: number; readonly total: number };

/** Of one or more passes over the same tasks: scored is what any of them has scored. */
export function countTasks(passes: readonly Pick<Evaluation, 'scores'>[]): TaskCount {
  return { scored: scoredIds(passes).size, total: passes[0]?.scores.length ?? 0 };
}

const scoredIds = (passes: readonly Pick<Evaluation, 'scores'>[]) =>
  new Set(passes.flatMap(({ scores }) => scores.filter(({ errored }) => !errored).map(({ id }) => id)));

/** `12 val tasks`, or `10 of 12 val tasks, 2 without a score`. */
export function taskCount({ scored, total }: TaskCount, noun: string): string {
  if (scored === total) return plural(total, noun);
  return `${scored} of ${plural(total, noun)}, ${total - scored} without a score`;
}

/** The same for a cell of a table. */
export const taskCell = ({ scored, total }: TaskCount) => (scored === total ? String(total) : `${scored} of ${total}`);
