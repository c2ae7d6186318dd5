import { normalCdf, normalQuantile, tQuantile } from './distributions.ts';
import { addWithin, type Evidence, itemMean, pooledMean, type WithinItems, withinItems } from './evidence.ts';

/** Of an interval, unless another is asked for. */
export const DEFAULT_CONFIDENCE = 0.95;

export type Interval = { readonly low: number; readonly high: number };
export type Estimate = { readonly value: number; readonly interval: Interval };

export type FinalReport = {
  /** Of what ships. `undefined` if nothing was rolled out. */
  readonly score: Estimate | undefined;
  /** Fresh rollouts against the seed skill's evidence, item by item. */
  readonly gain: Estimate | undefined;
  /** The seed skill measures better than the winner, and is what ships. */
  readonly isSeedBetter: boolean;
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
  /** The seed skill itself is the winner: nothing to choose. */
  readonly isSeed?: boolean;
};

/**
 * One worst-case rollout (a variance of a quarter) is added to every sum of squares: sets on which nothing varied by chance
 * get an interval with a width.
 */
const PRIOR_SQUARES = 0.25;

export function finalReport({ fresh, seed, confidence = DEFAULT_CONFIDENCE, isSeed = false }: FinalInput): FinalReport {
  const gain = isSeed ? undefined : estimateGain(fresh, seed, confidence);
  const isSeedBetter = gain !== undefined && gain.value < 0;
  const isClaimed = gain !== undefined && gain.interval.low > 0;
  const score = isSeed ? estimateScore(fresh, confidence) : scoreOfShipped(fresh, seed, confidence);
  return { score, gain, isSeedBetter, isClaimed, confidence };
}

/** The mean over the items with its interval: the noise of the rollouts, not the choice of the items. */
export function estimateScore(fresh: Evidence, confidence = DEFAULT_CONFIDENCE): Estimate | undefined {
  const value = pooledMean(fresh);
  if (value === undefined) return undefined;
  const within = withinItems(fresh);
  const half = quantile(confidence, within.freedom) * Math.sqrt(varianceOfMean(fresh, within));
  return around(value, half, { low: 0, high: 1 });
}

/**
 * Whichever of two measured better is flattered by having been chosen for it, the more the closer they were: what is
 * reported is what such a lead leads to expect.
 */
function scoreOfShipped(fresh: Evidence, seed: Evidence, confidence: number): Estimate | undefined {
  const [winner, before] = [pooledMean(fresh), pooledMean(seed)];
  if (winner === undefined) return undefined;
  if (before === undefined) return estimateScore(fresh, confidence);
  const within = addWithin(withinItems(fresh), withinItems(seed));
  const [shipped, other] = winner < before ? [seed, fresh] : [fresh, seed];
  const variance = varianceOfMean(shipped, within);
  const deviation = Math.sqrt(variance + varianceOfMean(other, within));
  const lead = Math.abs(winner - before) / deviation;
  const value = Math.max(winner, before) - (variance / deviation) * (lead - trueLead(lead));
  return around(value, quantile(confidence, within.freedom) * Math.sqrt(variance), { low: 0, high: 1 });
}

/** Further below than this it is not plausible that the worse one measured better. */
const LEAST_TRUE_LEAD = -0.25;

/** The lead, in deviations, that is seen as `lead` in the mean whenever it is above 0. */
function trueLead(lead: number): number {
  let [low, high] = [LEAST_TRUE_LEAD, lead];
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    [low, high] = middle + hazard(middle) > lead ? [low, middle] : [middle, high];
  }
  return high;
}

const hazard = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI) / normalCdf(z);

function varianceOfMean(evidence: Evidence, { squares, freedom }: WithinItems): number {
  let inverseCounts = 0;
  for (const { count } of evidence.values()) inverseCounts += 1 / count;
  return (((squares + PRIOR_SQUARES) / (freedom + 1)) * inverseCounts) / evidence.size ** 2;
}

/** The paired difference over the items that both sides have. */
export function estimateGain(fresh: Evidence, seed: Evidence, confidence = DEFAULT_CONFIDENCE): Estimate | undefined {
  const { n, value, squares } = pairedDifference(fresh, seed);
  if (n === 0) return undefined;
  const error = Math.sqrt(squares + PRIOR_SQUARES) / n;
  return around(value, quantile(confidence, n - 1) * error, { low: -1, high: 1 });
}

/** Of the tasks that both sides have: how many, the mean of their gains, and the squares about it. */
function pairedDifference(fresh: Evidence, seed: Evidence) {
  const differences: number[] = [];
  for (const [id, item] of fresh) {
    const before = seed.get(id);
    if (before !== undefined) differences.push(itemMean(item) - itemMean(before));
  }
  const n = differences.length;
  const value = differences.reduce((sum, difference) => sum + difference, 0) / n;
  const squares = differences.reduce((sum, difference) => sum + (difference - value) ** 2, 0);
  return { n, value, squares };
}

/**
 * How many such tasks, in all, would prove a gain as large as the one that was measured, in `power` of the cases.
 * `undefined` where nothing was gained.
 */
export function tasksToProve(
  fresh: Evidence,
  seed: Evidence,
  { confidence = DEFAULT_CONFIDENCE, power = 0.8 } = {},
): number | undefined {
  const { n, value, squares } = pairedDifference(fresh, seed);
  if (n === 0 || value <= 0) return undefined;
  const factor = normalQuantile((1 + confidence) / 2) + normalQuantile(power);
  return Math.ceil((factor ** 2 * (squares + PRIOR_SQUARES)) / n / value ** 2);
}

function quantile(confidence: number, freedom: number): number {
  return tQuantile((1 + confidence) / 2, Math.max(1, freedom));
}

/** Scores are from 0 to 1, so an interval never needs to reach beyond. */
function around(value: number, half: number, limits: Interval): Estimate {
  return { value, interval: { low: Math.max(limits.low, value - half), high: Math.min(limits.high, value + half) } };
}

/** Two skills by their attempts at the same tasks. */
export type PairedComparison = {
  /** Tasks that both have a score for. */
  readonly tasks: number;
  readonly before: number;
  readonly after: number;
  readonly gain: Estimate;
  /** The whole interval of the gain is above 0. */
  readonly isProven: boolean;
  /** The whole interval of the gain is below 0. */
  readonly isWorse: boolean;
  /** Tasks that failed and now pass, and the reverse. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
};

/** `undefined` when no task has a score on both sides. */
export function comparePaired(
  before: Evidence,
  after: Evidence,
  confidence = DEFAULT_CONFIDENCE,
): PairedComparison | undefined {
  const [old, young] = paired(before, after);
  const gain = estimateGain(young, old, confidence);
  if (gain === undefined) return undefined;
  return {
    tasks: old.size,
    before: meanOf(old),
    after: meanOf(young),
    gain,
    isProven: gain.interval.low > 0,
    isWorse: gain.interval.high < 0,
    ...flips(old, young),
  };
}

const meanOf = (evidence: Evidence) =>
  [...evidence.values()].reduce((sum, item) => sum + itemMean(item), 0) / evidence.size;

/** The tasks that both sides have a score for. */
export function paired(before: Evidence, after: Evidence): [before: Evidence, after: Evidence] {
  const common = (one: Evidence, other: Evidence) => new Map([...one].filter(([id]) => other.has(id)));
  return [common(before, after), common(after, before)];
}

/** A task passes from this mean on. */
export const PASS_MARK = 0.5;

export function flips(before: Evidence, after: Evidence): Pick<PairedComparison, 'gained' | 'lost'> {
  const passes = (evidence: Evidence, id: string) => itemMean(evidence.get(id)!) >= PASS_MARK;
  const ids = [...before.keys()];
  return {
    gained: ids.filter((id) => !passes(before, id) && passes(after, id)),
    lost: ids.filter((id) => passes(before, id) && !passes(after, id)),
  };
}
