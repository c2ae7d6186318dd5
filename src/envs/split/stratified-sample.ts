import { shuffle } from '../../core/random.ts';
import { byTaskType } from './by-task-type.ts';
import { apportion } from './split-ratio.ts';

/**
 * `count` of the items, each task type with its share: rounded by largest remainder, between equal ones to the more
 * frequent type. Which items of a type are taken depends on the seed; they come in the order of `items`. All of them
 * when there are no more than `count`.
 */
export function stratifiedSample<T extends object>(items: readonly T[], count: number, seed: number): T[] {
  if (count >= items.length) return [...items];
  const groups = [...byTaskType(items).values()];
  const shares = apportion(
    Math.max(0, count),
    groups.map((group) => group.length),
  );
  const taken = new Set(groups.flatMap((group, index) => shuffle(group, seed).slice(0, shares[index])));
  return items.filter((item) => taken.has(item));
}
