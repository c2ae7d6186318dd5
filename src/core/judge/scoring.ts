import { z } from 'zod';
import { suggestion } from '../text/index.ts';
import { readNumber } from './judges.ts';
import { TaskJudge, type TaskJudgeInput } from './task-judge.ts';

/** The field that is filled from a task's answers. Other kinds need none. */
const FROM_ANSWERS = { exact: 'reference', contains: 'reference', number: 'reference', regex: 'pattern' } as const;
type FilledKind = keyof typeof FROM_ANSWERS;

const KINDS = [...Object.keys(FROM_ANSWERS), 'json-schema', 'rubric', 'command', 'checks', 'rule'];

const HOW = `expected ${KINDS.slice(0, -1).join(', ')} or ${KINDS.at(-1)}, or such a judge with its settings`;

export type Scoring = { readonly kind: string } & Readonly<Record<string, unknown>>;

const isFilledKind = (kind: string): kind is FilledKind => Object.hasOwn(FROM_ANSWERS, kind);

/** How tasks without a judge of their own are scored: a judge, or its kind. */
export const Scoring = z.union([z.string(), z.record(z.string(), z.unknown())], HOW).transform((value, context) => {
  const scoring = (typeof value === 'string' ? { kind: value } : value) as Scoring;
  for (const message of problemsIn(scoring)) context.addIssue({ code: 'custom', message });
  return scoring;
});

function problemsIn({ kind, ...settings }: Scoring): string[] {
  if (typeof kind !== 'string') return ['expected a kind, such as kind: contains'];
  if (!KINDS.includes(kind)) return [`there is no kind "${kind}"${suggestion(kind, KINDS)}; ${HOW}`];
  const field = isFilledKind(kind) ? FROM_ANSWERS[kind] : undefined;
  if (field !== undefined && field in settings) return [`expected no ${field}: each task has it in its answers`];
  if (kind === 'json-schema' && typeof settings.schema === 'string') return []; // a path
  const read = TaskJudge.safeParse(fillScoring({ kind, ...settings }, ['1']).judge);
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('.') || kind} ${message}`);
}

type Filled = { readonly judge: TaskJudgeInput } | { readonly judge?: undefined; readonly problem: string };

export function fillScoring(scoring: Scoring, answers: readonly string[]): Filled {
  const { kind } = scoring;
  if (asksForAnswers(scoring)) {
    const rubric = String(scoring.rubric).replaceAll(ANSWERS, () => answers.join('\n\nor:\n\n'));
    return { judge: { ...scoring, rubric } as unknown as TaskJudgeInput };
  }
  if (!isFilledKind(kind)) return { judge: scoring as TaskJudgeInput };
  const numbers = kind === 'number' ? answers.map(readNumber) : [];
  const bad = answers[numbers.indexOf(undefined)];
  if (bad !== undefined) return { problem: `scoring by number needs one number as answer, got ${JSON.stringify(bad)}` };
  return { judge: { ...scoring, [FROM_ANSWERS[kind]]: kind === 'number' ? numbers : answers } as TaskJudgeInput };
}

const ANSWERS = '{answers}';

const asksForAnswers = ({ kind, rubric }: Scoring): boolean =>
  kind === 'rubric' && typeof rubric === 'string' && rubric.includes(ANSWERS);

export const needsAnswers = (scoring: Scoring): boolean => isFilledKind(scoring.kind) || asksForAnswers(scoring);
