import type { Splits } from '../../envs/index.ts';
import type { Benchmark, BenchmarkItem } from '../benchmark.ts';
import { allOf } from './load-items.ts';

export function withoutFlawed(benchmark: Benchmark, splits: Splits<BenchmarkItem>): Splits<BenchmarkItem> {
  const flawed = new Set(benchmark.flawsOf?.(allOf(splits)).flatMap(({ ids }) => ids));
  const kept = (items: readonly BenchmarkItem[]) => items.filter(({ id }) => !flawed.has(id));
  return { train: kept(splits.train), val: kept(splits.val), test: kept(splits.test) };
}

export const describeFlaws = (benchmark: Benchmark, items: readonly BenchmarkItem[]): string[] =>
  (benchmark.flawsOf?.(items) ?? []).map(
    ({ what, ids }) => `${ids.length} of ${items.length} items ${what}. extras.leaveOutFlawed: true leaves them out`,
  );
