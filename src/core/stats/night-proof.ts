import { hazard, leastOf, normalQuantile, tCdf, tQuantile } from './distributions.ts';
import { addWithin, type Evidence, meanOf, pairsOf, squaresAbout, withinItems } from './evidence.ts';
import type { Estimate } from './final-report.ts';

export type NightProof = {
  /** Mean gain over the tasks that both sides have. The lower end of its interval has the chosen error. */
  readonly gain: Estimate;
  /** The chance of such a gain, or a greater one, between two equal documents. */
  readonly pValue: number;
  readonly tasks: number;
  /** Deviations of the gain: by the noise of the rollouts, and by the choice of the tasks. */
  readonly noise: number;
  readonly luckOfTasks: number;
};

/** A quarter of a worst-case rollout, so that tasks without any variation have a noise, and a handful of attempts proves nothing. */
const PRIOR_SQUARES = 0.0625;

/**
 * Whether one document does better than another on the same tasks, by rollouts that neither was chosen for. The question is
 * whether the texts differ in effect at all, so the noise is that of the rollouts; tasks may gain differently.
 */
export function proveGain(winner: Evidence, seed: Evidence, error: number): NightProof | undefined {
  const pairs = pairsOf(winner, seed);
  if (pairs.length === 0) return undefined;
  const gains = pairs.map(({ gain }) => gain);
  const value = meanOf(gains);
  const { squares, freedom } = addWithin(withinItems(winner), withinItems(seed));
  const variance = (squares + PRIOR_SQUARES) / (freedom + 1);
  const inverse = pairs.reduce((sum, { after, before }) => sum + 1 / after.count + 1 / before.count, 0);
  const deviation = Math.sqrt(variance * inverse) / pairs.length;
  const half = tQuantile(1 - error, freedom + 1) * deviation;
  return {
    gain: { value, interval: { low: Math.max(-1, value - half), high: Math.min(1, value + half) } },
    pValue: 1 - tCdf(value / deviation, freedom + 1),
    tasks: pairs.length,
    noise: deviation,
    luckOfTasks: luckOf(gains, deviation),
  };
}

/** How much tasks differ in what they gain, in squares, before any is seen; and how many tasks that guess is worth. */
const USUAL_SQUARES = 0.06;
const USUAL_TASKS = 4;

/** The deviation of the mean gain that comes from the choice of the tasks. */
function luckOf(gains: readonly number[], noise: number): number {
  const n = gains.length;
  const squares = squaresAbout(gains, meanOf(gains));
  const between = Math.max(0, squares - (n - 1) * n * noise ** 2);
  return Math.sqrt((between + USUAL_TASKS * USUAL_SQUARES) / (n - 1 + USUAL_TASKS) / n);
}

/**
 * The gain to expect on other tasks of the same person. A gain is proven sooner when the held-out tasks happen to favour it.
 * `measured`, by new rollouts, is free of their noise but not of that luck: it is what a gain above a bar leads to expect.
 */
export function gainElsewhere(measured: NightProof, proven: NightProof, error: number): number {
  const { luckOfTasks, gain } = measured;
  const spread = Math.hypot(luckOfTasks, proven.noise);
  const least = -normalQuantile(error) * proven.noise;
  const flattered = (truth: number) => truth + (luckOfTasks ** 2 / spread) * hazard((truth - least) / spread);
  return leastOf([Math.min(0, gain.value), gain.value], 40, (truth) => flattered(truth) > gain.value);
}

export type ProofLook = { readonly passes: number; readonly share: number };

/** Looks at the evidence, each with a share of the error. Few passes prove a large gain, more a smaller one. */
export const PROOF_LOOKS: readonly ProofLook[] = [
  { passes: 2, share: 0.4 },
  { passes: 4, share: 0.35 },
  { passes: 8, share: 0.25 },
];

/** Another look is worth its passes if the gain must become at most this many deviations better. */
const HOPE = 0.7;

/** What follows from the look with this number, from 0. */
export function judgeProof(
  { pValue }: Pick<NightProof, 'pValue'>,
  look: number,
  error: number,
  looks: readonly ProofLook[] = PROOF_LOOKS,
): 'proven' | 'look-again' | 'not-proven' {
  if (pValue <= error * looks[look]!.share) return 'proven';
  const [now, next] = [looks[look]!, looks[look + 1]];
  if (next === undefined || pValue >= 0.5) return 'not-proven';
  const expected = normalQuantile(1 - pValue) * Math.sqrt(next.passes / now.passes);
  return expected + HOPE >= normalQuantile(1 - error * next.share) ? 'look-again' : 'not-proven';
}
