import { askedKey, groupBy } from '../../core/text/index.ts';
import type { Splits } from '../../envs/index.ts';
import type { Benchmark, BenchmarkItem } from '../benchmark.ts';

/** Items of one split that share something with items of an earlier one: what is learned there is known here. */
export type Leak = {
  readonly split: 'val' | 'test';
  readonly from: 'train' | 'val';
  /** `document`, `page`, `question` … */
  readonly what: string;
  readonly ids: readonly string[];
  readonly of: number;
};

const PAIRS = [
  ['test', 'train'],
  ['val', 'train'],
  ['test', 'val'],
] as const;

/** What splits share: the same question, or a thing that the benchmark names, such as `document 12`, by its first word. */
export function findLeaks<I extends BenchmarkItem>(benchmark: Benchmark<I>, splits: Splits<I>): Leak[] {
  const keysOf = (item: I) => [
    `question ${askedKey(benchmark.questionOf(item))}`,
    ...(benchmark.groupsOf?.(item) ?? []),
  ];
  return PAIRS.flatMap(([split, from]) => {
    const known = new Set(splits[from].flatMap(keysOf));
    const shared = splits[split].flatMap((item) => {
      const keys = keysOf(item).filter((key) => known.has(key));
      return [...new Set(keys.map(firstWord))].map((what) => ({ what, id: item.id }));
    });
    return groupBy(shared, ({ what }) => what).map((group) => {
      return { split, from, what: group[0]!.what, ids: group.map(({ id }) => id), of: splits[split].length };
    });
  });
}

const firstWord = (key: string) => key.slice(0, key.indexOf(' '));

export const describeLeaks = (leaks: readonly Leak[]): string[] =>
  leaks.map(({ split, from, what, ids, of }) => {
    const shared = what === 'question' ? 'ask what is asked' : `share a ${what} with an item`;
    return `${ids.length} of ${of} ${split} items ${shared} in ${from}`;
  });

/** Items that ask the same and have other answers: one of them cannot be right. */
export function findContradictions<I extends BenchmarkItem>(benchmark: Benchmark<I>, splits: Splits<I>): string[][] {
  const all = [...splits.train, ...splits.val, ...splits.test];
  const same = groupBy(all, (item) => askedKey(benchmark.questionOf(item))).filter((group) => group.length > 1);
  const odd = same.filter((group) => new Set(group.map((item) => benchmark.goldOf(item))).size > 1);
  return odd.map((group) => group.map(({ id }) => id));
}
