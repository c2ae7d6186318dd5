import { apportion } from '../../envs/index.ts';
import { CONTROL, type DraftRow, type TaskRow } from '../task-row.ts';
import type { Topic } from './ask-drafter.ts';

/** A kind of task, and how many of it are to be there in the end. `topic` is missing for those beside the field. */
export type Quota = { readonly taskType: string; readonly topic: Topic | undefined; readonly count: number };

/** Of ten tasks one is a control. */
const CONTROL_SHARE = 0.1;

/** Controls, and an equal share for every topic. */
export function quotasFor(topics: readonly Topic[], n: number): Quota[] {
  const controls = Math.round(n * CONTROL_SHARE);
  const shares = apportion(
    n - controls,
    topics.map(() => 1),
  );
  const own = topics.map((topic, place) => ({ taskType: topic.name, topic, count: shares[place]! }));
  return [...own, { taskType: CONTROL, topic: undefined, count: controls }].filter(({ count }) => count > 0);
}

/**
 * How many of each kind are missing, never more than `room` together. Tasks of other kinds take room too. When `isOpen`, what
 * some kinds could not give is asked of all of them.
 */
export function missingOf(quotas: readonly Quota[], rows: readonly TaskRow[], room: number, isOpen: boolean): number[] {
  const lacking = quotas.map(({ taskType, count }) =>
    Math.max(0, count - rows.filter((row) => row.taskType === taskType).length),
  );
  const total = lacking.reduce((sum, count) => sum + count, 0);
  const weights = isOpen ? lacking.map((count) => count + 0.5) : lacking;
  const wanted = isOpen ? room : Math.min(room, total);
  return wanted <= 0 || total + room === 0 ? quotas.map(() => 0) : apportion(wanted, weights);
}

const SPLITS = ['train', 'val', 'test'] as const;
const RATIO = [4, 3, 3];

/** Where the tasks of a file name their splits, each new one must too: where most are missing. Elsewhere the reader divides them. */
export function assignSplits(rows: readonly DraftRow[], existing: readonly TaskRow[]): DraftRow[] {
  if (!existing.some(({ split }) => typeof split === 'string')) return [...rows];
  const total = existing.length + rows.length;
  const wanted = apportion(total, RATIO);
  const left = SPLITS.map((name, place) => wanted[place]! - existing.filter(({ split }) => split === name).length);
  return rows.map((row) => {
    const place = left.indexOf(Math.max(...left));
    left[place]! -= 1;
    return { ...row, split: SPLITS[place]! };
  });
}
