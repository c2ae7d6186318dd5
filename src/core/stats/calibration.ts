import { plural } from '../text/index.ts';
import { leastOf, normalQuantile, tQuantile } from './distributions.ts';
import { type Evidence, type ItemEvidence, itemMean, pooledMean, withinItems } from './evidence.ts';
import { DEFAULT_CONFIDENCE } from './final-report.ts';

export type FlakyItem = {
  readonly id: string;
  readonly mean: number;
  readonly rollouts: number;
  readonly variance: number;
};

/** What it takes to prove a gain of this size in 80 of 100 runs. */
export type Needs = {
  readonly gain: number;
  /** Items, each rolled out twice by either skill. */
  readonly items: number;
  /** Rollouts per item and skill, with the items there are. `undefined`: no number is enough. */
  readonly repeats: number | undefined;
};

export type Calibration = {
  readonly items: number;
  readonly score: number | undefined;
  /** Standard deviation of the mean of one pass, the skill unchanged. */
  readonly noiseFloor: number;
  /** Standard deviation of one rollout about its item's mean. */
  readonly rolloutNoise: number;
  readonly flakiest: readonly FlakyItem[];
  /** The smallest true gain that ends in a claim with 80 % power. */
  readonly smallestGain: number;
  readonly needs: readonly Needs[];
  readonly warning: string | undefined;
};

export type CalibrationOptions = { readonly confidence?: number; readonly power?: number; readonly named?: number };

/** An edit moves some items by about a half and leaves the others, which widens the interval too. */
const TYPICAL_SHIFT = 0.5;
const FINAL_PASSES = 2;

/** What two or more passes of one skill say about the noise of the tasks. */
export function calibrate(evidence: Evidence, options: CalibrationOptions = {}): Calibration {
  const { confidence = DEFAULT_CONFIDENCE, power = 0.8, named = 5 } = options;
  const items = evidence.size;
  const noise = rolloutVariance(evidence);
  const factor = tQuantile((1 + confidence) / 2, Math.max(1, items - 1)) + normalQuantile(power);
  const smallestGain = items === 0 ? 1 : smallestDetectable(noise, items, factor);
  const largeFactor = normalQuantile((1 + confidence) / 2) + normalQuantile(power);
  const needs = [0.05, 0.1].map((gain) => ({
    gain,
    items: Math.ceil((largeFactor ** 2 * spread(gain, noise, FINAL_PASSES)) / gain ** 2),
    repeats: repeatsNeeded(gain, noise, items, factor),
  }));
  return {
    items,
    score: pooledMean(evidence),
    noiseFloor: items === 0 ? 0 : Math.sqrt(noise / items),
    rolloutNoise: Math.sqrt(noise),
    flakiest: flakiestItems(evidence).slice(0, named),
    smallestGain,
    needs,
    warning: warn(evidence, smallestGain),
  };
}

/** Without a repeat the worst case is assumed. */
function rolloutVariance(evidence: Evidence): number {
  const { squares, freedom } = withinItems(evidence);
  return Math.min(0.25, (squares + 0.25 / Math.max(1, evidence.size)) / Math.max(freedom, 1));
}

/** Variance of one item's paired difference: noise on both sides, and an edit that moves some items only. */
const spread = (gain: number, noise: number, repeats: number): number =>
  (2 * noise) / repeats + Math.max(0, TYPICAL_SHIFT * gain - gain * gain);

const smallestDetectable = (noise: number, items: number, factor: number): number =>
  leastOf([0, 1], 60, (gain) => gain >= factor * Math.sqrt(spread(gain, noise, FINAL_PASSES) / items));

function repeatsNeeded(gain: number, noise: number, items: number, factor: number): number | undefined {
  const room = (items * gain * gain) / factor ** 2 - Math.max(0, TYPICAL_SHIFT * gain - gain * gain);
  return room > 0 ? Math.max(1, Math.ceil((2 * noise) / room)) : undefined;
}

const flakiestItems = (evidence: Evidence): FlakyItem[] =>
  [...evidence]
    .map(([id, item]) => ({ id, mean: itemMean(item), rollouts: item.count, variance: varianceOf(item) }))
    .filter(({ variance }) => variance > 0)
    .sort((a, b) => b.variance - a.variance);

const varianceOf = ({ sum, sumSquares, count }: ItemEvidence): number =>
  count < 2 ? 0 : Math.max(0, sumSquares - (sum * sum) / count) / (count - 1);

function warn(evidence: Evidence, smallestGain: number): string | undefined {
  const score = pooledMean(evidence);
  if (score === undefined) return 'No item has a result: nothing can be learned from this set.';
  const points = (share: number) => `${(100 * share).toFixed(0)} points`;
  if (smallestGain > 1 - score) {
    return `Only gains of ${points(smallestGain)} or more can be proven here, and ${points(1 - score)} are left to gain. Use more tasks.`;
  }
  if (smallestGain <= 0.25) return undefined;
  return `${plural(evidence.size, 'task proves', 'tasks prove')} only gains of ${points(smallestGain)} or more. Use more tasks.`;
}
