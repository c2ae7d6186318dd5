import type { SkillOptConfig } from './config.ts';
import { selectGateScore } from './gate.ts';
import type { ItemScore } from './score.ts';
import {
  addObservations,
  type Evidence,
  type ItemEvidence,
  mergeAccepted,
  type Observation,
  pooledMean,
} from './stats/evidence.ts';
import { gateSettings } from './stats/gate-settings.ts';

/** Evidence as a state keeps it: plain, so that a state can be written down. */
export type EvidenceTable = Readonly<Record<string, ItemEvidence>>;

/** What the gate knows: of the seed skill, of the current one, and how often each item was rolled out under the latter. */
export type GateEvidence = {
  readonly seed: EvidenceTable;
  readonly incumbent: EvidenceTable;
  readonly draws: Readonly<Record<string, number>>;
};

export const noGateEvidence: GateEvidence = { seed: {}, incumbent: {}, draws: {} };

export const toEvidence = (table: EvidenceTable): Evidence => new Map(Object.entries(table));
const toTable = (evidence: Evidence): EvidenceTable => Object.fromEntries(evidence);

type Metric = Pick<SkillOptConfig, 'gateMetric' | 'gateMixedWeight'>;

/** Each item by the score that the gate looks at. What errored has none. */
export function toObservations(scores: readonly ItemScore[], { gateMetric, gateMixedWeight }: Metric): Observation[] {
  return scores.map(({ id, hard, soft, errored }) => {
    return { id, score: errored ? null : selectGateScore(hard, soft, gateMetric, gateMixedWeight) };
  });
}

/** After the passes of the seed skill: the first is draw 0 of every item, the next draw 1. */
export function openEvidence(passes: readonly (readonly ItemScore[])[], metric: Metric): GateEvidence {
  const pooled = passes.reduce(
    (evidence, scores) => addObservations(evidence, toObservations(scores, metric)),
    noItems,
  );
  const table = toTable(pooled);
  const ids = (passes[0] ?? []).map(({ id }) => id);
  return { seed: table, incumbent: table, draws: Object.fromEntries(ids.map((id) => [id, passes.length])) };
}

const noItems: Evidence = new Map();

/** After some items of the current skill were rolled out once more. While it is the seed, that is known of the seed too. */
export function addRefreshed(
  { seed, incumbent, draws }: GateEvidence,
  refreshed: readonly ItemScore[],
  { isSeed, ...metric }: Metric & { readonly isSeed: boolean },
): GateEvidence {
  const observations = toObservations(refreshed, metric);
  const more = (table: EvidenceTable) => toTable(addObservations(toEvidence(table), observations));
  const next = { ...draws };
  for (const { id } of refreshed) next[id] = (next[id] ?? 0) + 1;
  return { seed: isSeed ? more(seed) : seed, incumbent: more(incumbent), draws: next };
}

/** After a candidate won: its own rollouts, and as much of its predecessor's as makes a lucky lead believable. */
export function acceptEvidence(
  { seed, incumbent }: GateEvidence,
  scores: readonly ItemScore[],
  { isChosen, ...metric }: Metric & { readonly isChosen: boolean },
): GateEvidence {
  const candidate = addObservations(noItems, toObservations(scores, metric));
  const draws: Record<string, number> = {};
  for (const { id } of scores) draws[id] = (draws[id] ?? 0) + 1;
  const keptRollouts = isChosen ? gateSettings(Object.keys(draws).length).keptRollouts : 0;
  const merged = mergeAccepted({ incumbent: toEvidence(incumbent), candidate, keptRollouts });
  return { seed, incumbent: toTable(merged), draws };
}

/** The current skill's score as far as it is believable. */
export const believableScore = ({ incumbent }: GateEvidence) => pooledMean(toEvidence(incumbent)) ?? 0;
