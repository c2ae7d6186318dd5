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

/** Items that a winner seemed to have lost, rolled out again under both skills before they counted. */
export type RegressionCheck = Veto & {
  readonly incumbent: readonly ItemScore[];
  readonly candidate: readonly ItemScore[];
};

/**
 * Most tasks threw under a candidate, and the current skill answered on some of them: it is the candidate's doing. It is
 * never taken, since nothing could be learned with it.
 */
export type Blame = {
  readonly threw: number;
  readonly total: number;
  /** The most frequent. */
  readonly reason: string;
  /** Attempts of the current skill that were made to know it. */
  readonly asked: number;
};

/** What the gate decided and why. With the evidence of the run so far, the decision can be made again from this. */
export type GateDecision = Omit<WaveJudgement, 'verdict'> & {
  readonly verdict: Verdict;
  /** The current skill's items that were rolled out again for this. */
  readonly refreshed: readonly ItemScore[];
  /** A second pass of the candidate, for one that the first spoke for. */
  readonly confirmation?: readonly ItemScore[];
  /** Only of a winner that was asked about regressions. */
  readonly veto?: RegressionCheck;
  /** Items of the whole race. */
  readonly total: number;
};

/** Passes over validation after the search, by which the winner is reported. */
export type FinalMeasurement = FinalReport & {
  readonly hash: string;
  readonly passes: readonly Evaluation[];
};

/** Evidence as a state keeps it: plain, so that a state can be written down. */
export type EvidenceTable = Readonly<Record<string, ItemEvidence>>;

/** What the gate knows: of the seed skill, of the current one, and how often each item was rolled out under the latter. */
export type GateEvidence = {
  readonly seed: EvidenceTable;
  /** Rollouts of the current skill's very text. */
  readonly own: EvidenceTable;
  readonly inherited: Readonly<Record<string, Inherited>>;
  readonly repeats: Knowledge['repeats'];
  readonly draws: Readonly<Record<string, number>>;
};

export const noGateEvidence: GateEvidence = {
  seed: {},
  own: {},
  inherited: {},
  repeats: noKnowledge.repeats,
  draws: {},
};

export const toEvidence = (table: EvidenceTable): Evidence => new Map(Object.entries(table));
export const toTable = (evidence: Evidence): EvidenceTable => Object.fromEntries(evidence);

export function toKnowledge({ own, inherited, repeats }: GateEvidence): Knowledge {
  return { own: toEvidence(own), inherited: new Map(Object.entries(inherited)), repeats };
}

type Metric = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight'>;

/** Each item by the score that the gate looks at. What errored has none. */
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

/** After the passes of the seed skill: the first is draw 0 of every item, the next draw 1. */
export function openEvidence(passes: readonly (readonly ItemScore[])[], metric: Metric): GateEvidence {
  const scores = passes.flat();
  const table = toTable(addObservations(noEvidence, toObservations(scores, metric)));
  return { ...noGateEvidence, seed: table, own: table, draws: countDraws(scores) };
}

/** After some items of the current skill were rolled out once more. While it is the seed, that is known of the seed too. */
export function addRefreshed(
  evidence: GateEvidence,
  refreshed: readonly ItemScore[],
  { isSeed, ...metric }: Metric & { readonly isSeed: boolean },
): GateEvidence {
  const observations = toObservations(refreshed, metric);
  const own = toTable(addOwn(toKnowledge(evidence), observations).own);
  const draws = countDraws(refreshed, evidence.draws);
  return { ...evidence, own, draws, seed: isSeed ? own : evidence.seed };
}

/** After a candidate won: its own rollouts, and what is believed of it besides. One that no gate chose has its own alone. */
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

/** The current skill's score, shrunk towards what its items are known to do: a lucky measurement is not taken at face value. */
export function shrunkScore(evidence: GateEvidence): number {
  const known = scoreOf.get(evidence);
  const score = known ?? believedScore(toKnowledge(evidence), Object.keys(evidence.draws));
  scoreOf.set(evidence, score);
  return score;
}

/** A rejected candidate leaves the evidence as it is, and most are rejected. */
const scoreOf = new WeakMap<GateEvidence, number>();
