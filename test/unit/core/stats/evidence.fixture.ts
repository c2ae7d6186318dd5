import {
  addObservations,
  type Evidence,
  type Knowledge,
  noEvidence,
  noKnowledge,
} from '../../../../src/public/stats.ts';

/** Evidence from lists of scores by item. */
export function evidenceOf(scores: Readonly<Record<string, readonly (number | null)[]>>): Evidence {
  const observations = Object.entries(scores).flatMap(([id, list]) => list.map((score) => ({ id, score })));
  return addObservations(noEvidence, observations);
}

/** A skill of which these rollouts are known, and nothing from before. */
export const knowing = (own: Evidence): Knowledge => ({ ...noKnowledge, own });
