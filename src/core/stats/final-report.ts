import { tQuantile } from './distributions.ts';
import { type Evidence, itemMean, pooledMean, withinItems } from './evidence.ts';

export type Interval = { readonly low: number; readonly high: number };
export type Estimate = { readonly value: number; readonly interval: Interval };

export type FinalReport = {
  /** From fresh rollouts alone. `undefined` if there were none. */
  readonly score: Estimate | undefined;
  /** Fresh rollouts against the seed skill's evidence, item by item. */
  readonly gain: Estimate | undefined;
  /** The whole interval of the gain is above 0. Otherwise the winner ships as «not proven». */
  readonly isClaimed: boolean;
  readonly confidence: number;
};

export type FinalInput = {
  /** Rollouts of the winner made after it was chosen. What was seen during the search is never reported. */
  readonly fresh: Evidence;
  /** All rollouts of the seed skill. It was not chosen for its score, so its evidence is fair. */
  readonly seed: Evidence;
  readonly confidence?: number;
};

/**
 * One worst-case rollout (a variance of a quarter) is added to every sum of squares: sets on which nothing varied by chance
 * get an interval with a width.
 */
const PRIOR_SQUARES = 0.25;

export function finalReport({ fresh, seed, confidence = 0.95 }: FinalInput): FinalReport {
  const score = estimateScore(fresh, confidence);
  const gain = estimateGain(fresh, seed, confidence);
  return { score, gain, isClaimed: gain !== undefined && gain.interval.low > 0, confidence };
}

/** The mean over the items with its interval: the noise of the rollouts, not the choice of the items. */
export function estimateScore(fresh: Evidence, confidence = 0.95): Estimate | undefined {
  const value = pooledMean(fresh);
  if (value === undefined) return undefined;
  const { squares, freedom } = withinItems(fresh);
  const variance = (squares + PRIOR_SQUARES) / (freedom + 1);
  let inverseCounts = 0;
  for (const { count } of fresh.values()) inverseCounts += 1 / count;
  const error = Math.sqrt(variance * inverseCounts) / fresh.size;
  return around(value, quantile(confidence, freedom) * error, { low: 0, high: 1 });
}

/** The paired difference over the items that both sides have. */
export function estimateGain(fresh: Evidence, seed: Evidence, confidence = 0.95): Estimate | undefined {
  const differences: number[] = [];
  for (const [id, item] of fresh) {
    const before = seed.get(id);
    if (before !== undefined) differences.push(itemMean(item) - itemMean(before));
  }
  const n = differences.length;
  if (n === 0) return undefined;
  const value = differences.reduce((sum, difference) => sum + difference, 0) / n;
  const squares = differences.reduce((sum, difference) => sum + (difference - value) ** 2, 0);
  const error = Math.sqrt(squares + PRIOR_SQUARES) / n;
  return around(value, quantile(confidence, n - 1) * error, { low: -1, high: 1 });
}

function quantile(confidence: number, freedom: number): number {
  return tQuantile((1 + confidence) / 2, Math.max(1, freedom));
}

/** Scores are from 0 to 1, so an interval never needs to reach beyond. */
function around(value: number, half: number, limits: Interval): Estimate {
  return { value, interval: { low: Math.max(limits.low, value - half), high: Math.min(limits.high, value + half) } };
}
