import type { EnvCard } from '../../core/contracts/index.ts';
import type { Splits } from '../../envs/index.ts';
import type { Benchmark, Flaw } from '../benchmark.ts';
import { type BenchmarkProject, openBenchmark } from '../benchmark-env.ts';
import { findContradictions, findLeaks, type Leak } from './leaks.ts';
import { allOf } from './load-items.ts';
import { type Probed, type ProbeOptions, probeItems } from './probe-items.ts';

/** What stands against a number that is measured on these items. */
export type BenchmarkCheck = Probed & {
  readonly card: EnvCard;
  readonly counts: Readonly<Record<keyof Splits<unknown>, number>>;
  readonly published: Readonly<Record<keyof Splits<unknown>, number>>;
  readonly leaks: readonly Leak[];
  /** Groups of items that ask the same and have other answers. */
  readonly contradictions: readonly (readonly string[])[];
  /** Items with a known flaw, such as a choice that gives itself away. */
  readonly flaws: readonly Flaw[];
  /** Why the items are not those that were pulled. */
  readonly changed?: string;
  readonly warnings: readonly string[];
};

/** Reads the data of a project, and tries the scoring of all its items without a model. */
export async function checkBenchmark(
  benchmark: Benchmark,
  project: BenchmarkProject,
  options: ProbeOptions = {},
): Promise<BenchmarkCheck> {
  const { attempts, splits, card, changed, warnings } = await openBenchmark(benchmark, project);
  try {
    const all = allOf(splits);
    const probed = await probeItems(attempts, all, options);
    const counts = { train: splits.train.length, val: splits.val.length, test: splits.test.length };
    const found = { leaks: findLeaks(benchmark, splits), contradictions: findContradictions(benchmark, splits) };
    const flaws = benchmark.flawsOf?.(all) ?? [];
    return {
      ...probed,
      ...found,
      flaws,
      ...(changed === undefined ? {} : { changed }),
      card,
      counts,
      published: benchmark.published,
      warnings,
    };
  } finally {
    await attempts.close?.();
  }
}
