import type { WithinItems } from './evidence.ts';

/** `graded` also covers scores from a judge. */
export type ScoreKind = 'binary' | 'graded';

/** How much rollouts of one text differ on one item, and how much items differ from each other: seen, not assumed. */
export type NoiseModel = {
  readonly kind: ScoreKind;
  /** Mean over the items. */
  readonly center: number;
  /** Variance of one rollout about its item's mean. */
  readonly within: number;
  /** Rollouts' worth of the mean of all items that an item's own few rollouts are pulled by. */
  readonly pull: number;
};

export type NoiseInput = {
  readonly kind: ScoreKind;
  /** What is known of the current skill on each item. */
  readonly items: Iterable<{ readonly sum: number; readonly count: number }>;
  /** From everything of which one text was rolled out more than once. */
  readonly repeats: WithinItems;
};

/** What stands in until something was rolled out twice: this variance, with the weight of so many repeats. */
const USUAL_WITHIN: Readonly<Record<ScoreKind, number>> = { binary: 0.05, graded: 0.005 };
const USUAL_WEIGHT = 4;
const [LEAST_PULL, MOST_PULL] = [0.02, 4];

export function estimateNoise({ kind, items, repeats }: NoiseInput): NoiseModel {
  const within = (repeats.squares + USUAL_WEIGHT * USUAL_WITHIN[kind]) / (repeats.freedom + USUAL_WEIGHT);
  const means: number[] = [];
  for (const { sum, count } of items) if (count > 0) means.push(sum / count);
  const center = means.length === 0 ? 0.5 : means.reduce((sum, mean) => sum + mean, 0) / means.length;
  const spread = kind === 'binary' ? center * (1 - center) - within : spreadOf(means, center) - within / 2;
  const pull = spread <= within / MOST_PULL ? MOST_PULL : Math.max(LEAST_PULL, within / spread);
  return { kind, center, within, pull };
}

function spreadOf(means: readonly number[], center: number): number {
  const squares = means.reduce((sum, mean) => sum + (mean - center) ** 2, 0);
  return means.length > 1 ? squares / (means.length - 1) : 0;
}
