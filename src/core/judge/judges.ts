import { type RolloutOutput, SkillError } from '../contracts/index.ts';
import { fence, includesText, strip, suggestion } from '../text/index.ts';
import {
  type CheckSet,
  type ChecksJudge,
  holdsCheck,
  isModelCheck,
  type ModelCheck,
  type SingleCheck,
} from './checks.ts';
import { jsonInReply, whyUnfit } from './json-schema.ts';
import { PatternError } from './regex/compile-pattern.ts';
import { searchPattern } from './regex/python-regex.ts';
import { type CheckedAnswer, OPERATORS, RULE_OPS, type RuleCheck } from './rule-operators.ts';
import type { JudgedAnswer, JudgeKind, TaskScorer } from './task-judge.ts';

/** Whether an answer holds a reference, and how many of its words. */
export type ExactScore = { readonly hard: 0 | 1; readonly soft: number };

/** Lower case, with single spaces for all but letters, digits and underscores. */
const normalise = (text: string) => strip(text.toLowerCase().replace(/[^\p{L}\p{N}_]+/gu, ' '));

/** `hard`: the answer holds the reference, also inside a word. `soft`: at least the share of its words of more than two letters. */
export function scoreExact(reference: string, answer: string): ExactScore {
  const [wanted, given] = [normalise(reference), normalise(answer)];
  const hard = wanted !== '' && includesText(given, wanted) ? 1 : 0;
  return { hard, soft: Math.max(hard, sharedWords(wanted, given)) };
}

/** The share of a reference's words that an answer holds. */
export const keywordScore = (reference: string, answer: string): number =>
  sharedWords(normalise(reference), normalise(answer));

const MAX_WORDS = 200;

function sharedWords(wanted: string, given: string): number {
  const words = [...new Set(wanted.split(' '))].filter((word) => Array.from(word).length > 2).slice(0, MAX_WORDS);
  if (words.length === 0) return 0;
  return words.filter((word) => includesText(given, word)).length / words.length;
}

type Score<Kind extends JudgeKind> = (answer: JudgedAnswer<Kind>) => RolloutOutput;
const scorer = <Kind extends JudgeKind>(kind: Kind, version: string, score: Score<Kind>): TaskScorer<Kind> => {
  return { kind, version, score };
};

export const exactJudge = scorer('exact', '1', ({ judge, answer }) => {
  const references = typeof judge.reference === 'string' ? [judge.reference] : judge.reference;
  const scores = references.map((reference) => scoreExact(reference, answer));
  const hard = scores.some((score) => score.hard === 1) ? 1 : 0;
  const soft = Math.max(...scores.map((score) => score.soft));
  const wanted = references.map((reference) => JSON.stringify(reference)).join(' or ');
  const failReason = `not the expected answer: it does not hold ${wanted}`;
  return { hard, soft, ...(hard === 1 ? {} : { failReason }) };
});

const NUMBER = /[-+−]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|[-+−]?\.\d+/g;

/** Numbers with a sign, with commas between thousands, with an exponent. */
function numbersIn(text: string): number[] {
  const found = Array.from(text.matchAll(NUMBER), ([number]) => Number(number.replaceAll(',', '').replace('−', '-')));
  return found.filter(Number.isFinite);
}

export function readNumber(text: string): number | undefined {
  const [first, second] = numbersIn(text);
  return second === undefined ? first : undefined;
}

export const numberJudge = scorer('number', '1', ({ judge, answer }) => {
  const { reference, which, tolerance, relativeTolerance } = judge;
  const given = numbersIn(answer).at(which === 'first' ? 0 : -1);
  if (given === undefined) return { hard: 0, soft: 0, failReason: 'no number: the answer holds none' };
  const isNear = reference.some((wanted) => {
    // A hair wider than said, since 0.1 + 0.2 is not 0.3.
    const allowed = Math.max(tolerance, relativeTolerance * Math.abs(wanted)) + 1e-9 * Math.abs(wanted);
    return Math.abs(given - wanted) <= allowed;
  });
  if (isNear) return { hard: 1, soft: 1 };
  return { hard: 0, soft: 0, failReason: `wrong number: expected ${reference.join(' or ')}, got ${given}` };
});

const fold = (text: string, ignoreCase: boolean) => (ignoreCase ? text.toLowerCase() : text);

export const containsJudge = scorer('contains', '1', ({ judge: { reference, all, ignoreCase }, answer }) => {
  const given = fold(answer, ignoreCase);
  const missing = reference.filter((text) => !includesText(given, fold(text, ignoreCase)));
  const found = reference.length - missing.length;
  if (all ? missing.length === 0 : found > 0) return { hard: 1, soft: 1 };
  const wanted = missing.map((text) => JSON.stringify(text)).join(all ? ' and ' : ' or ');
  return { hard: 0, soft: all ? found / reference.length : 0, failReason: `words missing: it lacks ${wanted}` };
});

/** The pattern is not shown to analysts: it would end up in the skill. */
export const regexJudge = scorer('regex', '1', ({ judge: { pattern }, answer }) => {
  const found = pattern.map((each) => searchPattern(each, answer));
  if (found.includes(true)) return { hard: 1, soft: 1 };
  if (!found.includes(undefined)) return { hard: 0, soft: 0, failReason: WRONG_FORM };
  return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: TOO_LONG };
});

const WRONG_FORM = 'wrong form: it does not have a form that is required, which is not shown here';
const TOO_LONG = 'a pattern of the judge would take too long on an answer of this length';

export const jsonSchemaJudge = scorer('json-schema', '1', ({ judge: { schema }, answer }) => {
  const found = jsonInReply(answer);
  if (!found) return { hard: 0, soft: 0, failReason: 'no JSON: the answer holds none that can be read' };
  const problem = whyUnfit(found.value, schema);
  if (problem === undefined) return { hard: 1, soft: 1 };
  return { hard: 0, soft: 0, failReason: `does not fit the schema: ${problem}` };
});

export type FailedCheck = { readonly check: RuleCheck; readonly kind: string; readonly what: string };

export type RuleScore = {
  readonly hard: 0 | 1;
  readonly soft: number;
  readonly failed: readonly FailedCheck[];
  /** Every failed check as it is written. */
  readonly rationale: string;
};

/**
 * Whether an answer passes every check. Throws `TASKS_INVALID` for an unknown operator or an unsupported pattern.
 * `undefined`: a pattern would take too long on this answer.
 */
export function scoreByRule(
  answer: string | { readonly text: string; readonly toolsCalled?: readonly string[] | undefined },
  checks: readonly RuleCheck[],
): RuleScore | undefined {
  if (checks.length === 0) return { hard: 0, soft: 0, failed: [], rationale: 'no checks' };
  const given = { toolsCalled: [], ...(typeof answer === 'string' ? { text: answer } : answer) } as CheckedAnswer;
  const outcomes = checks.map((check) => decide(given, check));
  if (outcomes.includes(undefined)) return undefined;
  const failed = outcomes.flatMap((outcome) => outcome || []);
  const rationale = failed.map(({ check, what }) => describeCheck(check, what)).join('; ');
  const soft = (checks.length - failed.length) / checks.length;
  return { hard: failed.length === 0 ? 1 : 0, soft, failed, rationale };
}

/** What is wrong, or `false` when nothing is. */
function decide(answer: CheckedAnswer, check: RuleCheck): FailedCheck | false | undefined {
  const operator = OPERATORS[check.op] ?? unknownOp(check.op);
  const arg = String(check.arg ?? '');
  try {
    const holds = operator.holds(answer, arg);
    if (holds !== false) return holds === undefined ? undefined : false;
    const [kind, what] = operator.wrong(answer, arg);
    return { check, kind, what: check.says ?? what };
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    if (error.isRefused) throw unusable(check, error);
    return { check, kind: 'broken check', what: `the pattern cannot be read: ${error.message}` };
  }
}

function describeCheck({ op, arg }: RuleCheck, what: string): string {
  const written = arg === undefined || arg === null ? op : `${op}=${arg}`;
  return op === 'regex' && what.startsWith('the pattern cannot') ? `${written} (${what})` : written;
}

function unknownOp(op: string): never {
  throw new SkillError('TASKS_INVALID', `a check has the unknown op "${op}"${suggestion(op, RULE_OPS)}`, {
    hint: `There is ${RULE_OPS.join(', ')}.`,
  });
}

function unusable({ op, arg }: RuleCheck, cause: PatternError): SkillError {
  const hint = 'Write it without that part, or as several checks: a text may have to hold one and not hold another.';
  const message = `${op} ${JSON.stringify(arg)} cannot be used: ${cause.message}`;
  return new SkillError('TASKS_INVALID', message, { cause, hint });
}

export const ruleJudge = scorer('rule', '1', ({ judge, answer, toolsCalled }) => {
  const score = scoreByRule({ text: answer, toolsCalled }, judge.checks);
  if (!score) return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: TOO_LONG };
  const { hard, soft, failed, rationale } = score;
  return { hard, soft, ...(hard === 1 ? {} : { failReason: inWords(failed), extras: { failedChecks: rationale } }) };
});

/** Failures are counted by what stands before the colon. */
function inWords(failed: readonly FailedCheck[]): string {
  const kinds = [...new Set(failed.map(({ kind }) => kind))].join(', ');
  return `${kinds}: ${failed.map(({ what }) => what).join('; ')}`;
}

type Outcome = { readonly passes: boolean; readonly score: number; readonly weight: number };

/** What a model says about an answer by a criterion, from 0 to 1. `undefined`: nothing that can be used. */
type AskModel = (check: ModelCheck) => Promise<number | undefined>;

/** `undefined`: a check cannot be decided on this answer. */
async function scoreAll(checks: readonly (SingleCheck | CheckSet)[], answer: string, ask: AskModel) {
  const outcomes: Outcome[] = [];
  for (const check of checks) {
    const { weight = 1 } = check;
    const scored = check.type === 'set' ? await scoreSet(check, answer, ask) : await scoreOne(check, answer, ask);
    if (scored === undefined) return undefined;
    outcomes.push({ ...scored, passes: scored.passes || weight === 0, weight });
  }
  return outcomes;
}

const nameOf = (check: SingleCheck | CheckSet) => `${'not' in check && check.not ? 'not-' : ''}${check.type}`;

type Verdict = Pick<Outcome, 'passes' | 'score'>;

async function scoreSet({ checks, threshold }: CheckSet, answer: string, ask: AskModel): Promise<Verdict | undefined> {
  const outcomes = await scoreAll(checks, answer, ask);
  return outcomes && together(outcomes, threshold);
}

/** The weighted mean. A threshold decides alone; without one every check must hold. */
function together(outcomes: readonly Outcome[], threshold: number | undefined): Verdict {
  const total = outcomes.reduce((sum, { weight }) => sum + weight, 0);
  const points = outcomes.reduce((sum, { score, weight }) => sum + score * weight, 0);
  const score = total === 0 ? 1 : points / total;
  const passes = threshold === undefined ? outcomes.every((outcome) => outcome.passes) : score >= threshold;
  return { passes, score };
}

async function scoreOne(check: SingleCheck, answer: string, ask: AskModel): Promise<Verdict | undefined> {
  if (isModelCheck(check)) return toVerdict(await ask(check), check);
  const holds = holdsCheck(check, answer);
  if (holds === undefined) return undefined;
  const passes = holds !== (check.not ?? false);
  return { passes, score: passes ? 1 : 0 };
}

function toVerdict(score: number | undefined, { not = false, threshold = 0.5 }: ModelCheck): Verdict | undefined {
  if (score === undefined) return undefined;
  return { passes: score >= threshold !== not, score: not ? 1 - score : score };
}

type RubricScorer = TaskScorer<'rubric'>;

/** Tasks with a list of checks. `rubric` scores those that a model decides. */
export function checksJudge(rubric: RubricScorer | undefined): TaskScorer<'checks'> {
  return {
    kind: 'checks',
    version: `1${rubric ? ` with rubric ${rubric.version}` : ''}`,
    judgeCalls: (judge) =>
      modelChecks(judge).length * (rubric?.judgeCalls?.(toRubric({ type: 'rubric', value: '' })) ?? 0),
    async score(answer): Promise<RolloutOutput> {
      const { checks, threshold } = answer.judge;
      const outcomes = await scoreAll(checks, answer.answer, (check) => ask(check, answer, rubric));
      if (!outcomes) return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: NO_VERDICT };
      const { passes, score } = together(outcomes, threshold);
      const failed = checks.filter((_, index) => !outcomes[index]!.passes).map(nameOf);
      // As rules do: the texts that are looked for would end up in the skill.
      const failReason = `failed ${failed.length} of ${checks.length} checks: ${failed.join(', ')}`;
      return { hard: passes ? 1 : 0, soft: score, ...(passes ? {} : { failReason }) };
    },
  };
}

const NO_VERDICT = 'a check could not be decided: a model gave no verdict, or the answer is too long for it';

/** The checks that a model makes, also those in sets. */
export const modelChecks = ({ checks }: ChecksJudge): ModelCheck[] =>
  checks.flatMap((check) => (check.type === 'set' ? check.checks : [check])).filter(isModelCheck);

async function ask(
  check: ModelCheck,
  { question, answer, model, signal }: JudgedAnswer<'checks'>,
  rubric: RubricScorer | undefined,
): Promise<number | undefined> {
  const scored = await rubric?.score({ judge: toRubric(check), question, answer, model, signal });
  return !scored || scored.errored ? undefined : scored.soft;
}

function toRubric({ type, value }: Pick<ModelCheck, 'type' | 'value'>) {
  const words = `What the answer states agrees with what stands below, and contradicts none of it.\n${fence('fact', value)}`;
  return { kind: 'rubric' as const, rubric: type === 'factuality' ? words : value };
}
