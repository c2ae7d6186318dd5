import { type Evidence, itemMean, pooledMean, withinVariance } from './evidence.ts';

/** `graded` also covers scores from a judge. */
export type ScoreKind = 'binary' | 'graded';

/** What the incumbent would score on an item, and how far the mean of some rollouts of an equal skill strays from that. */
type Expectation = {
  readonly mean: number;
  readonly variance: number;
  readonly weight: number;
  /** The largest lead or deficit that counts while a race is on: one item shall not decide it. */
  readonly most: number;
};
export type Expect = (id: string, rollouts: number) => Expectation;

export type ExpectInput = {
  readonly incumbent: Evidence;
  readonly kind: ScoreKind;
  readonly withinVariance?: number;
  readonly settings: { readonly priorRollouts: number };
};

/** An item that always passed so far may still fail. */
const LEAST_VARIANCE = 0.003;
/** Keeps steady items from outweighing all others. */
const WEIGHT_VARIANCE = 0.1;
/** Scores that never varied still count as noisy by a hundredth. */
const LEAST_NOISE = 1e-4;
/** Graded scores may be nearly free of noise; then any change is many deviations, and the size of one says little of the rest. */
const MOST_DEVIATIONS = 4;

/** Items borrow strength from each other: few rollouts of one are pulled towards the mean of all. */
export function expectItems(input: ExpectInput): Expect {
  return input.kind === 'binary' ? expectBinary(input) : expectGraded(input);
}

function expectBinary({ incumbent, settings }: ExpectInput): Expect {
  const center = pooledMean(incumbent) ?? 0;
  const prior = settings.priorRollouts;
  return (id, rollouts) => {
    const { sum, count } = incumbent.get(id) ?? { sum: 0, count: 0 };
    const mean = (sum + prior * center) / (count + prior);
    const single = Math.max(mean * (1 - mean), LEAST_VARIANCE);
    const ofMean = 1 / (count + prior + 1); // the share that is doubt about the mean, and stays with more rollouts
    const variance = single * (ofMean + (1 - ofMean) / rollouts);
    return { mean, variance, weight: 1 / (single + WEIGHT_VARIANCE), most: 1 };
  };
}

function expectGraded({ incumbent, withinVariance: given }: ExpectInput): Expect {
  const center = pooledMean(incumbent) ?? 0;
  const noise = Math.max(given ?? withinVariance(incumbent) ?? 0.25, LEAST_NOISE);
  const prior = noise / Math.max(varianceOfMeans(incumbent, center) - noise * meanInverseCount(incumbent), noise / 4);
  return (id, rollouts) => {
    const { sum, count } = incumbent.get(id) ?? { sum: 0, count: 0 };
    const mean = (sum + prior * center) / (count + prior);
    const variance = noise * (1 / rollouts + 1 / (count + prior));
    return { mean, variance, weight: 1, most: MOST_DEVIATIONS * Math.sqrt(variance) };
  };
}

function varianceOfMeans(evidence: Evidence, center: number): number {
  let squares = 0;
  for (const item of evidence.values()) squares += (itemMean(item) - center) ** 2;
  return evidence.size > 1 ? squares / (evidence.size - 1) : 0;
}

function meanInverseCount(evidence: Evidence): number {
  let sum = 0;
  for (const { count } of evidence.values()) sum += 1 / count;
  return evidence.size > 0 ? sum / evidence.size : 0;
}
