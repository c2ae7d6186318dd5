import { shuffle } from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { apportion } from './split-ratio.ts';

type Typed = { readonly taskType?: unknown; readonly task_type?: unknown };

/** What kind of task an item or a result is: '' when it does not say. */
export function taskTypeOf(entry: object): string {
  const { taskType, task_type } = entry as Typed;
  const type = taskType ?? task_type;
  return type == null ? '' : String(type);
}

/** The entries of each task type, types in the order in which they first occur. */
export function byTaskType<T extends object>(entries: readonly T[]): T[][] {
  return groupBy(entries, taskTypeOf);
}

/**
 * `count` of the items, each task type with its share: rounded by largest remainder, between equal ones to the more
 * frequent type. Which items of a type are taken depends on the seed; they come in the order of `items`. All of them
 * when there are no more than `count`.
 */
export function stratifiedSample<T extends object>(items: readonly T[], count: number, seed: number): T[] {
  if (count >= items.length) return [...items];
  const groups = byTaskType(items);
  const shares = apportion(
    Math.max(0, count),
    groups.map((group) => group.length),
  );
  const taken = new Set(groups.flatMap((group, index) => shuffle(group, seed).slice(0, shares[index])));
  return items.filter((item) => taken.has(item));
}
