import { hazard, leastOf, normalQuantile, tQuantile } from './distributions.ts';
import {
  addWithin,
  type Evidence,
  itemMean,
  meanOf,
  pairsOf,
  pooledMean,
  squaresAbout,
  type WithinItems,
  withinItems,
} from './evidence.ts';

export const DEFAULT_CONFIDENCE = 0.95;

export type Interval = { readonly low: number; readonly high: number };
export type Estimate = { readonly value: number; readonly interval: Interval };

export type FinalReport = {
  /** The score of what ships; `undefined` if nothing was rolled out. */
  readonly score: Estimate | undefined;
  readonly gain: Estimate | undefined;
  readonly isSeedBetter: boolean;
  /** The whole interval of the gain is above 0. Otherwise the winner ships as «not proven». */
  readonly isClaimed: boolean;
  readonly confidence: number;
};

export type FinalInput = {
  /** Rollouts of the winner made after it was chosen. */
  readonly fresh: Evidence;
  /** All rollouts of the seed skill, which was not chosen for its score. */
  readonly seed: Evidence;
  readonly confidence?: number;
  readonly isSeed?: boolean;
};

/** One worst-case rollout, so that sets on which nothing varied get an interval with a width. */
const PRIOR_SQUARES = 0.25;

export function finalReport({ fresh, seed, confidence = DEFAULT_CONFIDENCE, isSeed = false }: FinalInput): FinalReport {
  const gain = isSeed ? undefined : estimateGain(fresh, seed, confidence);
  const isSeedBetter = gain !== undefined && gain.value < 0;
  const isClaimed = gain !== undefined && gain.interval.low > 0;
  const score = isSeed ? estimateScore(fresh, confidence) : scoreOfShipped(fresh, seed, confidence);
  return { score, gain, isSeedBetter, isClaimed, confidence };
}

/** The mean over the items. Its interval shows the noise of the rollouts, not the choice of the items. */
export function estimateScore(fresh: Evidence, confidence = DEFAULT_CONFIDENCE): Estimate | undefined {
  const value = pooledMean(fresh);
  if (value === undefined) return undefined;
  const within = withinItems(fresh);
  const half = quantile(confidence, within.freedom) * Math.sqrt(varianceOfMean(fresh, within));
  return around(value, half, { low: 0, high: 1 });
}

/** The better one of two was chosen for its score and so is flattered, the more the closer they were. This takes that out. */
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

/** The lead, in deviations, that is seen as `lead` in the mean, given that it is seen above 0. */
const trueLead = (lead: number): number => leastOf([-0.25, lead], 40, (value) => value + hazard(value) > lead);

function varianceOfMean(evidence: Evidence, { squares, freedom }: WithinItems): number {
  const inverseCounts = [...evidence.values()].reduce((sum, { count }) => sum + 1 / count, 0);
  return (((squares + PRIOR_SQUARES) / (freedom + 1)) * inverseCounts) / evidence.size ** 2;
}

export function estimateGain(fresh: Evidence, seed: Evidence, confidence = DEFAULT_CONFIDENCE): Estimate | undefined {
  const { n, value, squares } = pairedDifference(fresh, seed);
  if (n === 0) return undefined;
  const error = Math.sqrt(squares + PRIOR_SQUARES) / n;
  return around(value, quantile(confidence, n - 1) * error, { low: -1, high: 1 });
}

function pairedDifference(fresh: Evidence, seed: Evidence) {
  const gains = pairsOf(fresh, seed).map(({ gain }) => gain);
  const value = meanOf(gains);
  return { n: gains.length, value, squares: squaresAbout(gains, value) };
}

/** How many such tasks would prove a gain of the measured size, in `power` of the cases. `undefined` where nothing was gained. */
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

const quantile = (confidence: number, freedom: number): number => tQuantile((1 + confidence) / 2, Math.max(1, freedom));

/** Scores are from 0 to 1: neither an estimate nor its interval is beyond the limits, and the one is within the other. */
function around(estimate: number, half: number, { low, high }: Interval): Estimate {
  const within = (value: number) => Math.min(high, Math.max(low, value)) + 0; // and never -0
  const value = within(estimate);
  return { value, interval: { low: within(value - half), high: within(value + half) } };
}

export type PairedComparison = {
  readonly tasks: number;
  readonly before: number;
  readonly after: number;
  readonly gain: Estimate;
  /** The whole interval of the gain is above 0. */
  readonly isProven: boolean;
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
    before: pooledMean(old)!,
    after: pooledMean(young)!,
    gain,
    isProven: gain.interval.low > 0,
    isWorse: gain.interval.high < 0,
    ...flips(old, young),
  };
}

export function paired(before: Evidence, after: Evidence): [before: Evidence, after: Evidence] {
  const common = (one: Evidence, other: Evidence) => new Map([...one].filter(([id]) => other.has(id)));
  return [common(before, after), common(after, before)];
}

export const PASS_MARK = 0.5;

export function flips(before: Evidence, after: Evidence): Pick<PairedComparison, 'gained' | 'lost'> {
  const passes = (evidence: Evidence, id: string) => itemMean(evidence.get(id)!) >= PASS_MARK;
  const ids = [...before.keys()];
  return {
    gained: ids.filter((id) => !passes(before, id) && passes(after, id)),
    lost: ids.filter((id) => passes(before, id) && !passes(after, id)),
  };
}
