import { type Evaluation, type ItemScore, type SkillOptConfig, selectGateScore } from '../contracts/index.ts';
import {
  addObservations,
  addOwn,
  believedScore,
  type Evidence,
  type FinalReport,
  type Inherited,
  type ItemEvidence,
  inherit,
  type Knowledge,
  noEvidence,
  noKnowledge,
  type Observation,
  type Verdict,
  type Veto,
  type WaveJudgement,
} from '../stats/index.ts';
import { memoizeWeakly } from '../text/index.ts';

/** Items that a winner seemed to have lost, rolled out again under both skills. */
export type RegressionCheck = Veto & {
  readonly incumbent: readonly ItemScore[];
  readonly candidate: readonly ItemScore[];
};

/** Most tasks threw under a candidate but not under the current skill: the candidate is the cause, and is never taken. */
export type Blame = {
  readonly threw: number;
  readonly total: number;
  /** The most frequent reason. */
  readonly reason: string;
  /** Attempts of the current skill that were made to find out. */
  readonly asked: number;
};

/** What the gate decided and why. With the evidence before it, the decision can be made again. */
export type GateDecision = Omit<WaveJudgement, 'verdict'> & {
  readonly verdict: Verdict;
  /** Items of the current skill that were rolled out again. */
  readonly refreshed: readonly ItemScore[];
  /** A second pass of the candidate. */
  readonly confirmation?: readonly ItemScore[];
  readonly veto?: RegressionCheck;
  /** Items of the whole race. */
  readonly total: number;
  /** How it was judged after each wave and after the second pass. Missing in older journals. */
  readonly waves?: readonly WaveVerdict[];
};

/** What the gate held of a candidate that had met so many items. A winner may still be vetoed. */
export type WaveVerdict = Pick<WaveJudgement, 'verdict' | 'reason' | 'expectedGain' | 'chance'> & {
  readonly met: number;
};

/** Passes of the winner over validation after the search. */
export type FinalMeasurement = FinalReport & { readonly hash: string; readonly passes: readonly Evaluation[] };

/** Evidence as plain data: a state can be written down. */
export type EvidenceTable = Readonly<Record<string, ItemEvidence>>;

/** What the gate knows of the seed skill and the current one, and how often each item was rolled out under the latter. */
export type GateEvidence = {
  readonly seed: EvidenceTable;
  /** Rollouts of the current skill's very text. */
  readonly own: EvidenceTable;
  readonly inherited: Readonly<Record<string, Inherited>>;
  readonly repeats: Knowledge['repeats'];
  readonly draws: Readonly<Record<string, number>>;
};

const { repeats } = noKnowledge;
export const noGateEvidence: GateEvidence = { seed: {}, own: {}, inherited: {}, repeats, draws: {} };

export const toEvidence = (table: EvidenceTable): Evidence => new Map(Object.entries(table));
export const toTable = (evidence: Evidence): EvidenceTable => Object.fromEntries(evidence);

export function toKnowledge({ own, inherited, repeats }: GateEvidence): Knowledge {
  return { own: toEvidence(own), inherited: new Map(Object.entries(inherited)), repeats };
}

type Metric = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight'>;

/** Each item by the metric of the gate. Errored attempts have no score. */
export function toObservations(scores: readonly ItemScore[], { gateMetric, gateMixedWeight }: Metric): Observation[] {
  return scores.map(({ id, hard, soft, errored }) => {
    return { id, score: errored ? null : selectGateScore(hard, soft, gateMetric, gateMixedWeight) };
  });
}

const countDraws = (scores: readonly ItemScore[], before: Readonly<Record<string, number>> = {}) => {
  const draws = { ...before };
  for (const { id } of scores) draws[id] = (draws[id] ?? 0) + 1;
  return draws;
};

export function openEvidence(passes: readonly (readonly ItemScore[])[], metric: Metric): GateEvidence {
  const scores = passes.flat();
  const table = toTable(addObservations(noEvidence, toObservations(scores, metric)));
  return { ...noGateEvidence, seed: table, own: table, draws: countDraws(scores) };
}

/** After some items of the current skill were rolled out once more. */
export function addRefreshed(
  evidence: GateEvidence,
  refreshed: readonly ItemScore[],
  { isSeed, ...metric }: Metric & { readonly isSeed: boolean },
): GateEvidence {
  const own = toTable(addOwn(toKnowledge(evidence), toObservations(refreshed, metric)).own);
  const draws = countDraws(refreshed, evidence.draws);
  return { ...evidence, own, draws, seed: isSeed ? own : evidence.seed };
}

/** After a candidate won: its own rollouts, and what it inherits. One that no gate chose inherits nothing. */
export function acceptEvidence(
  evidence: GateEvidence,
  scores: readonly ItemScore[],
  { isChosen, ...metric }: Metric & { readonly isChosen: boolean },
): GateEvidence {
  const observed = addObservations(noEvidence, toObservations(scores, metric));
  const ids = Object.keys(evidence.draws);
  const before = toKnowledge(evidence);
  const { own, inherited, repeats } = isChosen
    ? inherit({ knowledge: before, observed, ids })
    : { own: observed, inherited: before.inherited, repeats: before.repeats };
  const draws = { ...Object.fromEntries(ids.map((id) => [id, 0])), ...countDraws(scores) };
  return { seed: evidence.seed, own: toTable(own), inherited: Object.fromEntries(inherited), repeats, draws };
}

/**
 * The current skill's score, shrunk towards what its items are known to do: lucky measurements flatter. Kept, since most
 * candidates are rejected and leave the evidence as it is.
 */
export const shrunkScore = memoizeWeakly((evidence: GateEvidence) =>
  believedScore(toKnowledge(evidence), Object.keys(evidence.draws)),
);
