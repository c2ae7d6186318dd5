import { z } from 'zod';
import { QaItem } from '../../envs/index.ts';
import type { DraftRow } from '../task-row.ts';

/** A draft that can be a task, or why it cannot. */
export type ReadDraft = { readonly row: DraftRow } | { readonly question: string; readonly problem: string };

const filled = z.string().trim().min(1);
const answer = z.union([filled, z.number().transform(String)]);

/** As models write it: one answer without a list, and parts that are there and empty. */
const Draft = z.object({
  question: filled,
  answers: z.union([answer.transform((one) => [one]), z.array(answer)]).nullish(),
  checks: z.array(z.record(z.string(), z.unknown())).nullish(),
  criteria: z.array(filled).nullish(),
  why: z.string().nullish(),
});

type Kind = { readonly taskType: string; readonly hasJudge: boolean };

/** A row for the task file, checked as the reader of the file will check it. */
export function readDraft(value: unknown, { taskType, hasJudge }: Kind): ReadDraft {
  const { data, error } = Draft.safeParse(value);
  if (!data) return { question: '', problem: `no task: ${error.issues[0]!.message}` };
  const { question, why } = data;
  const scored = scoringOf(data, hasJudge);
  if (!scored) return { question, problem: 'it has nothing to be scored by' };
  const about = { taskType, why: why?.trim() ?? '' };
  const row: DraftRow = { question, ...scored, ...about, drafted: true, reviewed: false };
  const { success } = QaItem.safeParse({ id: 'draft', ...row });
  return success ? { row } : { question, problem: 'its checks are not valid' };
}

function scoringOf({ answers, checks, criteria }: z.output<typeof Draft>, hasJudge: boolean) {
  if (answers?.length) return { answers: [...new Set(answers)] };
  if (checks?.length) return { judge: { kind: 'checks', checks } } as unknown as Pick<DraftRow, 'judge'>;
  return criteria?.length && hasJudge ? { judge: { kind: 'rubric' as const, criteria } } : undefined;
}
