import { normalQuantile } from './distributions.ts';
import { type Evidence, isBinary, itemMean, MAX_MISSING_SHARE } from './evidence.ts';
import { type Expect, expectItems, type ScoreKind } from './expect-items.ts';
import { type GateSettings, gateSettings } from './gate-settings.ts';

export type Verdict = 'accept' | 'reject' | 'inconclusive' | 'invalid';

export type WaveInput = {
  readonly incumbent: Evidence;
  /** The candidate's rollouts so far. */
  readonly observed: Evidence;
  /** Items whose rollout of the candidate gave no result. */
  readonly missing?: readonly string[];
  /** Items the candidate has not met yet. */
  readonly remaining: readonly string[];
  /** Detected from the evidence unless given. */
  readonly scoreKind?: ScoreKind;
  /** Noise of one rollout for graded scores, best from the A/A passes; from the incumbent's evidence unless given. */
  readonly withinVariance?: number;
  readonly settings?: GateSettings;
};

/** Items that moved one way, and by how much in all: measured against what was expected of the incumbent. */
export type Movement = { readonly items: readonly string[]; readonly sum: number };

export type WaveJudgement = {
  /** `continue` with no item remaining asks for a second pass over all of them; only `confirmThreshold` leads there. */
  readonly verdict: Verdict | 'continue';
  readonly z: number;
  readonly threshold: number;
  /** Mean of candidate − incumbent over the items met, in score units. */
  readonly meanGain: number;
  readonly gains: Movement;
  readonly regressions: Movement;
  readonly reason: string;
  /** Only if inconclusive: how many more rollouts would decide it, if the gain is what it seems. */
  readonly needs?: { readonly rollouts: number; readonly power: number };
};

/**
 * The default gate after a wave. A function of its input alone, so that a decision can be recomputed from its record.
 * A candidate wins only after all items; it can lose after every wave.
 */
export function judgeWave(input: WaveInput): WaveJudgement {
  const { incumbent, observed, missing = [], remaining } = input;
  const total = observed.size + missing.length + remaining.length;
  const settings = input.settings ?? gateSettings(total);
  const expect = expectItems({ ...input, kind: input.scoreKind ?? detectKind(incumbent, observed), settings });
  const comparison = compare(incumbent, observed, expect);
  const room = remaining.reduce((sum, id) => sum + (incumbent.has(id) ? 1 - expect(id, 1).mean : 0), 0);
  const decision = decide({
    ...comparison,
    missing: missing.length,
    remaining: remaining.length,
    total,
    room,
    settings,
  });
  const { z, meanGain, gains, regressions } = comparison;
  return { z, threshold: thresholdOf(comparison, settings), meanGain, gains, regressions, ...decision };
}

function detectKind(...evidences: readonly Evidence[]): ScoreKind {
  return isBinary(...evidences) ? 'binary' : 'graded';
}

type Comparison = Pick<WaveJudgement, 'z' | 'meanGain' | 'gains' | 'regressions'> & {
  readonly met: number;
  readonly rollouts: number;
  readonly sum: number;
  /** As z, but no item counts for more than it may while the race is on. */
  readonly raceZ: number;
};

/** The second pass has a bar of its own. That it is the second is seen from the evidence: most items have two rollouts. */
function thresholdOf(comparison: Comparison, { acceptThreshold, confirmThreshold }: GateSettings): number {
  return isConfirmed(comparison) ? (confirmThreshold ?? acceptThreshold) : acceptThreshold;
}

function isConfirmed({ met, rollouts }: Comparison): boolean {
  return rollouts > 1.5 * met;
}

/** Only items with evidence on both sides are compared. */
function compare(incumbent: Evidence, observed: Evidence, expect: Expect): Comparison {
  const gains = { items: [] as string[], sum: 0 };
  const regressions = { items: [] as string[], sum: 0 };
  const totals = { met: 0, rollouts: 0, sum: 0, weighted: 0, bounded: 0, variance: 0 };
  for (const [id, item] of observed) {
    const before = incumbent.get(id);
    if (before === undefined) continue;
    const expected = expect(id, item.count);
    const lead = itemMean(item) - expected.mean;
    totals.met += 1;
    totals.rollouts += item.count;
    totals.sum += lead;
    totals.weighted += expected.weight * lead;
    totals.bounded += expected.weight * Math.min(expected.most, Math.max(-expected.most, lead));
    totals.variance += expected.weight ** 2 * expected.variance;
    const change = itemMean(item) - itemMean(before);
    const side = change > 0 ? gains : regressions;
    if (change === 0) continue;
    side.items.push(id);
    side.sum += change;
  }
  const inDeviations = (sum: number) => (totals.variance > 0 ? sum / Math.sqrt(totals.variance) : 0);
  return {
    met: totals.met,
    rollouts: totals.rollouts,
    sum: totals.sum,
    z: inDeviations(totals.weighted),
    raceZ: inDeviations(totals.bounded),
    meanGain: totals.met === 0 ? 0 : totals.sum / totals.met,
    gains,
    regressions,
  };
}

/** Less than this is what sums of floats leave over. */
const NOTHING = 1e-9;

type Standing = Comparison & {
  readonly missing: number;
  readonly remaining: number;
  readonly total: number;
  /** What the remaining items could still add if all were perfect. */
  readonly room: number;
  readonly settings: GateSettings;
};

type Decision = Pick<WaveJudgement, 'verdict' | 'reason' | 'needs'>;

function decide(standing: Standing): Decision {
  const { missing, remaining, total, met, sum, room, raceZ: z, settings } = standing;
  if (missing > MAX_MISSING_SHARE * total) {
    return {
      verdict: 'invalid',
      reason: `${missing} of ${total} items gave no result; at most a fifth may be missing`,
    };
  }
  if (remaining === 0 && met === 0) return { verdict: 'invalid', reason: 'no item has a result on both sides' };
  if (remaining === 0) return decideAtEnd(standing);
  if (sum + room <= NOTHING)
    return { verdict: 'reject', reason: 'perfect scores on the remaining items would not win' };
  const floor = (settings.rejectSlope * (total - remaining)) / total;
  if (met > 0 && z < floor) {
    return {
      verdict: 'reject',
      reason: `z ${z.toFixed(2)} is below ${floor.toFixed(2)} after ${total - remaining} of ${total} items`,
    };
  }
  return { verdict: 'continue', reason: `z ${z.toFixed(2)} after ${total - remaining} of ${total} items` };
}

function decideAtEnd(standing: Standing): Decision {
  const { z, meanGain, rollouts: made, settings } = standing;
  const threshold = thresholdOf(standing, settings);
  const figures = `z ${z.toFixed(2)} against ${threshold.toFixed(2)}, mean gain ${(100 * meanGain).toFixed(1)} points`;
  if (z >= threshold && meanGain > NOTHING) {
    const isFirst = settings.confirmThreshold !== undefined && !isConfirmed(standing);
    return isFirst
      ? { verdict: 'continue', reason: `${figures}; a second pass decides` }
      : { verdict: 'accept', reason: figures };
  }
  if (!(z > 0 && meanGain > NOTHING)) return { verdict: 'reject', reason: figures };
  const rollouts = rolloutsToDecide(z, threshold, made);
  return {
    verdict: 'inconclusive',
    reason: `${figures}; ≈ ${rollouts} more rollouts for 80 % power`,
    needs: { rollouts, power: 0.8 },
  };
}

/** z grows with the root of the rollouts: how many more until it passes the threshold in 80 of 100 tries. */
function rolloutsToDecide(z: number, threshold: number, rollouts: number): number {
  const goal = (threshold + normalQuantile(0.8)) / z;
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(1, Math.ceil(rollouts * (goal * goal - 1))));
}
