import { z } from 'zod';
import { type ChatModel, isPlainPath, type RolloutOutput } from '../contracts/index.ts';
import { strip } from '../text/index.ts';
import { ChecksJudge, jsonSchema, pattern } from './checks.ts';
import { errorsInCheck, type RuleCheck } from './rule-operators.ts';

const filled = z.string('must be text').refine((text) => strip(text) !== '', 'must be non-empty text');
const share = z.number('must be a number from 0 to 1').min(0, 'must be at least 0').max(1, 'must be at most 1');

const Check = z.unknown().transform((check, context): RuleCheck => {
  for (const message of errorsInCheck(check)) context.addIssue({ code: 'custom', message });
  const { op, arg, says } = (check ?? {}) as RuleCheck;
  return { op, ...(arg == null ? {} : { arg }), ...(says === undefined ? {} : { says }) };
});

const RuleJudge = z.strictObject({
  kind: z.literal('rule'),
  checks: z.array(Check, 'must be a list of checks').min(1, 'must have a check').readonly(),
});

/** One, or a list; any of them counts. */
const oneOrMore = <Part extends z.ZodType>(part: Part, message: string) =>
  z.union([part, z.array(part, message).min(1, message).readonly()], message);
/** The same, always as a list. */
const listOf = <Part extends z.ZodType>(part: Part, message: string) =>
  z.preprocess(
    (value) => (value === undefined || Array.isArray(value) ? value : [value]),
    z.array(part, message).min(1, message).readonly(),
  ) as unknown as z.ZodType<readonly z.output<Part>[], z.input<Part> | readonly z.input<Part>[]>;
const TEXTS = 'must be text or a list of texts';

const ExactJudge = z.strictObject({ kind: z.literal('exact'), reference: oneOrMore(filled, TEXTS) });

const ContainsJudge = z.strictObject({
  kind: z.literal('contains'),
  reference: listOf(filled, TEXTS),
  all: z.boolean().default(false),
  ignoreCase: z.boolean().default(true),
});

/** Python's syntax; `(?i)` at the beginning ignores case. */
const RegexJudge = z.strictObject({
  kind: z.literal('regex'),
  pattern: listOf(pattern, 'must be a pattern or a list'),
});

const tolerance = z.number('must be a number').min(0, 'must be at least 0').default(0);
const NUMBERS = 'must be a number or a list of numbers';
const NumberJudge = z.strictObject({
  kind: z.literal('number'),
  reference: listOf(z.number(NUMBERS), NUMBERS),
  tolerance,
  /** As a share of the reference. The wider of the two counts. */
  relativeTolerance: tolerance,
  which: z.enum(['first', 'last'], 'must be first or last').default('last'),
});

const JsonSchemaJudge = z.strictObject({ kind: z.literal('json-schema'), schema: jsonSchema });

const RubricJudge = z
  .strictObject({
    kind: z.literal('rubric'),
    rubric: filled.optional(),
    /** Statements about the answer, in place of a rubric. */
    criteria: z.array(filled, 'must be a list of statements').min(1, 'must have a statement').readonly().optional(),
    reference: filled.optional(),
    /** The lowest score that passes: 0.8, beside a reference 0.5, of criteria all. */
    passMark: share.optional(),
  })
  .refine(({ rubric, criteria }) => (rubric === undefined) !== (criteria === undefined), 'must have a rubric')
  .refine(({ criteria, reference }) => !criteria || !reference, 'must not have both criteria and a reference');

const FILE_NAME = 'must have relative file names, such as check.py';

const CommandJudge = z.strictObject({
  kind: z.literal('command'),
  /** For the shell, or a program with arguments. The answer is in `answer.txt` and on standard input. */
  command: z.union([filled, z.array(z.string()).min(1).readonly()], 'must be text or a list of words'),
  files: z.record(z.string().refine(isPlainPath, FILE_NAME), z.string('must be text')).optional(),
  /** 0 is a success; or the last line that it prints decides. */
  verdict: z.enum(['exit-code', 'stdout'], 'must be exit-code or stdout').default('exit-code'),
  timeoutMs: z.number('must be a number').int().positive().max(3_600_000, 'must be at most an hour').default(60_000),
});

/** How the answer to a task is scored, as a task says it. */
export const TaskJudge = z.discriminatedUnion(
  'kind',
  // biome-ignore format: one line of names
  [RuleJudge, ExactJudge, ContainsJudge, RegexJudge, NumberJudge, JsonSchemaJudge, RubricJudge, CommandJudge, ChecksJudge],
  'must have a kind: rule, exact, contains, regex, number, json-schema, rubric, command or checks',
);
export type TaskJudge = z.output<typeof TaskJudge>;
export type TaskJudgeInput = z.input<typeof TaskJudge>;
export type JudgeKind = TaskJudge['kind'];
export type JudgeOf<Kind extends JudgeKind> = Extract<TaskJudge, { kind: Kind }>;

/** An answer with all that a judge may look at. */
export type JudgedAnswer<Kind extends JudgeKind = JudgeKind> = {
  readonly judge: JudgeOf<Kind>;
  readonly question: string;
  readonly answer: string;
  readonly toolsCalled?: readonly string[] | undefined;
  readonly model?: ChatModel | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** Scores answers by judges of one kind. An answer that cannot be judged is `errored`, which is not zero. */
export interface TaskScorer<Kind extends JudgeKind = JudgeKind> {
  readonly kind: Kind;
  /** Changes whenever the same answer could be scored differently. */
  readonly version: string;
  /** How often a model is asked about one answer; 0 by default. */
  judgeCalls?(judge: JudgeOf<Kind>): number;
  /** Throws when nothing can be scored here, such as without a sandbox. Called before the first rollout. */
  ready?(): Promise<void>;
  score(answer: JudgedAnswer<Kind>): RolloutOutput | Promise<RolloutOutput>;
}
