import type { SkillOptConfig } from '../config.ts';
import type { ItemScore } from '../score.ts';
import { addObservations, type Evidence, type ItemEvidence, noEvidence, type Observation } from '../stats/evidence.ts';
import { addOwn, believedScore, type Inherited, inherit, type Knowledge, noKnowledge } from '../stats/knowledge.ts';
import { selectGateScore } from './gate.ts';

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
