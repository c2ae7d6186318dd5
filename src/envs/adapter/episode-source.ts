import { type Item, SkillError } from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { planSeeds } from '../loader/plan-train-epoch.ts';
import { requireSplitName, type SplitName } from '../split/split-name.ts';
import type { ItemSource } from './item-source.ts';

/** How many episodes each split of a simulator has. `train` is rounded up to whole batches. */
export type EpisodeCounts = { readonly [Name in SplitName]: number };

/** Which episode it is: the `index`-th of the environment that `seed` and `batchSize` build. */
export type Episode = Item & {
  readonly split: SplitName;
  readonly seed: number;
  readonly index: number;
  readonly batchSize: number;
};

type EpisodeSettings = { readonly counts: EpisodeCounts; readonly seed: number; readonly batchSize: number };

/**
 * The episodes of a simulator as items. Train batch k is the environment of seed + k with `batchSize` episodes; val
 * and test are one environment each, of the run's seed and as many episodes as they have. An item says all that its
 * environment is built from, so a kept result stands for that episode and no other. When only some episodes of an
 * environment are wanted, it is run whole.
 */
export function episodeSource({ counts, seed, batchSize }: EpisodeSettings): ItemSource {
  return {
    isOrdered: true,
    getItems(split) {
      const name = requireSplitName(split, 'the simulator');
      if (name !== 'train') return episodesOf({ split: name, seed, batchSize: counts[name] });
      const batches = Math.ceil(counts.train / batchSize);
      const seeds = Array.from({ length: batches }, (_, index) => seed + index + 1);
      return seeds.flatMap((one) => episodesOf({ split: name, seed: one, batchSize }));
    },
    planTrainEpoch: (plan) =>
      planSeeds(plan).map((one) => episodesOf({ split: 'train', seed: one, batchSize: plan.batchSize })),
    batchesOf: (items) => groupBy(items as readonly Episode[], environmentOf).map(([first]) => toBatch(first!)),
  };
}

function episodesOf(environment: Omit<Episode, 'id' | 'index'>): Episode[] {
  const { split, seed, batchSize } = environment;
  return Array.from({ length: batchSize }, (_, index) => ({ id: `${split}-${seed}-${index}`, ...environment, index }));
}

const environmentOf = ({ split, seed, batchSize }: Episode) => `${split} ${seed} ${batchSize}`;

function toBatch({ split, seed, batchSize }: Episode) {
  const items = episodesOf({ split, seed, batchSize });
  const metadata = { ids: items.map((item) => item.id) };
  return { items, batch: { phase: split === 'train' ? 'train' : 'eval', split, seed, batchSize, metadata } as const };
}

/** Throws `ENV_INVALID` for an adapter that has neither a loader nor counts. */
export function requireCounts(counts: EpisodeCounts | undefined, name: string): EpisodeCounts {
  const numbers = [counts?.train, counts?.val, counts?.test];
  if (numbers.every((number) => Number.isSafeInteger(number) && number! >= 0)) return counts!;
  const problem = `${name}: an adapter without a loader must say how many episodes each split has`;
  throw new SkillError('ENV_INVALID', `${problem}, got ${JSON.stringify(counts) ?? 'nothing'}`, {
    hint: 'Give it episodes = { train: 80, val: 40, test: 40 }, or a loader from getDataloader().',
  });
}
