import { type RolloutOutput, SkillError } from '../contracts/index.ts';
import { includesText, strip, suggestion } from '../text/index.ts';
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
export function keywordScore(reference: string, answer: string): number {
  return sharedWords(normalise(reference), normalise(answer));
}

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
