import type { Blame, GateDecision } from '../../gate/gate-decision.ts';
import type { Evaluation, ItemScore } from '../../score.ts';
import type { FailurePattern, Patch } from '../../skill/edit.ts';
import type { Estimate } from '../../stats/final-report.ts';
import type { Refusal } from './event-data.ts';
import { type Field, listOf, number, object, optional, orNull, text } from './field.ts';

/** What several kinds of events hold. */

export const texts = listOf(text);

/** Ids of tasks, which a journal names once. */
export const taskIds: Field<readonly string[]> = { ...texts, mapLists: (value, { ids }) => ids(value) };

const scores: Field<readonly ItemScore[]> = {
  ...listOf({
    isValid: (value) => {
      const { id, hard, soft } = (value ?? {}) as Readonly<Record<string, unknown>>;
      return typeof id === 'string' && typeof hard === 'number' && typeof soft === 'number';
    },
  }),
  mapLists: (value, change) => change.scores(value),
};

export const pass = object<{ readonly hard: number; readonly soft: number }>({ hard: number, soft: number });
export const evaluation = object<Evaluation>({ hard: number, soft: number, scores });
export const patch = object<Patch>({ edits: listOf(object({ op: text, content: text, target: text })) });
export const refused = optional(listOf(object<Refusal>({ reason: text })));
export const estimate = optional(object<Estimate>({ value: number, interval: object({ low: number, high: number }) }));
export const failurePatterns = optional(listOf(object<FailurePattern>({ type: text, count: number, taskIds })));

const movement = optional(object<{ readonly items: readonly string[] }>({ items: taskIds }));
const decision = object<GateDecision>({
  verdict: text,
  reason: text,
  total: number,
  gains: movement,
  regressions: movement,
  refreshed: scores,
  confirmation: optional(scores),
  veto: optional(object<NonNullable<GateDecision['veto']>>({ incumbent: scores, candidate: scores })),
});

export const candidate = { candidateSkill: text, candidateHash: text };
export const judged = {
  evaluation: orNull(evaluation),
  score: number,
  action: text,
  decision: optional(decision),
  blame: optional(object<Blame>({ threw: number, total: number, reason: text, asked: number })),
};
