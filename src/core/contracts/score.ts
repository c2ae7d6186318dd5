import { z } from 'zod';
import { toCamelCase } from '../text/index.ts';

const unitInterval = z.number().min(0).max(1);

const RolloutFields = z.object({
  id: z.string(),
  hard: unitInterval,
  soft: unitInterval,
  errored: z.boolean().optional(),
  unjudged: z.boolean().optional(),
  threw: z.boolean().optional(),
  skillUnread: z.boolean().optional(),
  nTurns: z.number().optional(),
  failReason: z.string().optional(),
  taskType: z.string().optional(),
  taskDescription: z.string().optional(),
  predictedAnswer: z.string().optional(),
  question: z.string().optional(),
  referenceText: z.string().optional(),
  targetSystemPrompt: z.string().optional(),
  targetUserPrompt: z.string().optional(),
  conversation: z.array(z.unknown()).optional(),
  extras: z.record(z.string(), z.unknown()).optional(),
});

export const ROLLOUT_FIELDS = Object.keys(RolloutFields.shape);

/**
 * One task attempted once under one skill, scored from 0 to 1: `hard` is success, `soft` partial credit.
 * `errored`: infrastructure failed, so there is no score, and no analyst sees it. `unjudged`: the judge gave nothing readable.
 * `threw`: the environment's code failed on the task, which then counts as failed. `skillUnread`: an agent never loaded the skill,
 * so the result says nothing about its text. Both spellings of keys are read.
 */
export const RolloutResult = z.preprocess(toCamelCase, RolloutFields);
export type RolloutResult = z.infer<typeof RolloutResult>;

type Scored = Partial<Pick<RolloutResult, 'hard' | 'soft' | 'errored'>>;

/** What a journal keeps of one rollout: enough to recompute every score and decision. */
export type ItemScore = {
  readonly id: string;
  readonly hard: number;
  readonly soft: number;
  readonly errored?: true;
  /** No judgement could be had, which is no outage. */
  readonly unjudged?: true;
  readonly taskType?: string;
};

export type Evaluation = { readonly hard: number; readonly soft: number; readonly scores: readonly ItemScore[] };

export type PairCategory = 'improved' | 'regressed' | 'persistent_fail' | 'stable_success';

export type Bucket = { readonly total: number; readonly hard: number; readonly soft: number };

/** `[hard, soft]`: means over the results that did not err, or `[0, 0]`. What is no finite number counts as 0. */
export function computeScore(results: readonly (Scored | null | undefined)[]): [hard: number, soft: number] {
  const { total, hard, soft } = addUp(results);
  return total === 0 ? [0, 0] : [hard / total, soft / total];
}

function addUp(results: readonly (Scored | null | undefined)[]): Bucket {
  const scored = results.filter((result) => !result?.errored);
  const sum = (key: 'hard' | 'soft') => scored.reduce((all, result) => all + toNumber(result?.[key]), 0);
  return { total: scored.length, hard: sum('hard'), soft: sum('soft') };
}

/** Adapters in other languages write `true` and `"0.5"`. */
function toNumber(score: unknown): number {
  const value =
    typeof score === 'boolean' || (typeof score === 'string' && score.trim() !== '') ? Number(score) : score;
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

export function toEvaluation(results: readonly RolloutResult[]): Evaluation {
  const [hard, soft] = computeScore(results);
  return { hard, soft, scores: results.map(toItemScore) };
}

function toItemScore({ id, hard, soft, errored, unjudged, taskType }: RolloutResult): ItemScore {
  const missing = { ...(errored ? { errored } : {}), ...(errored && unjudged ? { unjudged } : {}) };
  return { id, hard, soft, ...missing, ...(taskType === undefined ? {} : { taskType }) };
}

/** Means per task type, and `overall`. Listed types without items have a total of 0; items without a type are `other`. */
export function bucketScores(scores: readonly ItemScore[], taskTypes: readonly string[] = []): Record<string, Bucket> {
  return Object.fromEntries(groupByType(scores, taskTypes).map(([type, members]) => [type, toMeans(members)]));
}

export function bucketSums(scores: readonly ItemScore[], taskTypes: readonly string[] = []) {
  const rows = groupByType(scores, taskTypes).map(([type, members]) => {
    const { hard, soft } = toMeans(members);
    return [type, { ...addUp(members), mean_hard: hard, mean_soft: soft }] as const;
  });
  return Object.fromEntries(rows);
}

function groupByType(scores: readonly ItemScore[], taskTypes: readonly string[]): [type: string, ItemScore[]][] {
  const hasTypes = taskTypes.length > 0 || scores.some(({ taskType }) => taskType);
  const groups = new Map<string, ItemScore[]>(taskTypes.map((type) => [type, []]));
  for (const score of hasTypes ? scores : []) {
    const type = score.taskType || 'other';
    const group = groups.get(type);
    if (group) group.push(score);
    else groups.set(type, [score]);
  }
  return [...groups, ['overall', [...scores]]];
}

function toMeans(scores: readonly ItemScore[]): Bucket {
  const [hard, soft] = computeScore(scores);
  return { total: addUp(scores).total, hard, soft };
}
