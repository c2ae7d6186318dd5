import type { RolloutResult } from './rollout-result.ts';

type Scored = Pick<RolloutResult, 'hard' | 'soft'> & { readonly errored?: boolean | undefined };

/** What a journal keeps of one rollout: enough to recompute every score and decision. */
export type ItemScore = {
  readonly id: string;
  readonly hard: number;
  readonly soft: number;
  readonly errored?: true;
  /** Of an errored one: no judgement could be had. That is no outage. */
  readonly unjudged?: true;
  readonly taskType?: string;
};

/** A skill's means over a split, with the scores they are made of. */
export type Evaluation = { readonly hard: number; readonly soft: number; readonly scores: readonly ItemScore[] };

export type Bucket = { readonly total: number; readonly hard: number; readonly soft: number };

/** `[hard, soft]`, each a mean over the results that have a score. Nothing scored is `[0, 0]`. */
export function computeScore(results: readonly Scored[]): [hard: number, soft: number] {
  const scored = results.filter((result) => !result.errored);
  if (scored.length === 0) return [0, 0];
  const total = (key: 'hard' | 'soft') => scored.reduce((sum, result) => sum + result[key], 0);
  return [total('hard') / scored.length, total('soft') / scored.length];
}

export function toEvaluation(results: readonly RolloutResult[]): Evaluation {
  const [hard, soft] = computeScore(results);
  return { hard, soft, scores: results.map(toItemScore) };
}

function toItemScore({ id, hard, soft, errored, unjudged, taskType }: RolloutResult): ItemScore {
  const missing = { ...(errored ? { errored } : {}), ...(errored && unjudged ? { unjudged } : {}) };
  return { id, hard, soft, ...missing, ...(taskType === undefined ? {} : { taskType }) };
}

/** Means per task type, and `overall`. Types in `taskTypes` that no item has are listed with a total of 0. */
export function bucketScores(scores: readonly ItemScore[], taskTypes: readonly string[] = []): Record<string, Bucket> {
  const types = new Set([...taskTypes, ...scores.flatMap((score) => score.taskType ?? [])]);
  const rows = [...types].map((type) => [type, toBucket(scores.filter((score) => score.taskType === type))] as const);
  return Object.fromEntries([...rows, ['overall', toBucket(scores)] as const]);
}

function toBucket(scores: readonly ItemScore[]): Bucket {
  const [hard, soft] = computeScore(scores);
  return { total: scores.filter((score) => !score.errored).length, hard, soft };
}
