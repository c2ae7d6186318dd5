import type { RolloutOutput } from '../env.ts';
import { SkillError } from '../errors.ts';
import { suggestion } from '../text/closest-name.ts';
import { PatternError } from './regex/pattern-error.ts';
import { type CheckedAnswer, OPERATORS, RULE_OPS, type RuleCheck } from './rule-operators.ts';
import type { TaskScorer } from './task-judge.ts';

export type FailedCheck = { readonly check: RuleCheck; readonly kind: string; readonly what: string };

export type RuleScore = {
  /** 1 when every check holds. */
  readonly hard: 0 | 1;
  /** The share of them that hold. */
  readonly soft: number;
  readonly failed: readonly FailedCheck[];
  /** For people: every failed check as it is written. */
  readonly rationale: string;
};

/**
 * Whether an answer does what every check asks. Throws `TASKS_INVALID` for an operator that there is not and for a pattern
 * that is not supported. `undefined`: a pattern would take too long on this answer, so that nobody knows.
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
  return new SkillError('TASKS_INVALID', `${op} ${JSON.stringify(arg)} cannot be used: ${cause.message}`, {
    cause,
    hint,
  });
}

/** Built into every environment that takes task judges. */
export const ruleJudge: TaskScorer<'rule'> = {
  kind: 'rule',
  version: '1',
  score({ judge, answer, toolsCalled }): RolloutOutput {
    const score = scoreByRule({ text: answer, toolsCalled }, judge.checks);
    if (!score) return { hard: 0, soft: 0, errored: true, unjudged: true, failReason: TOO_LONG };
    const { hard, soft, failed, rationale } = score;
    return { hard, soft, ...(hard === 1 ? {} : { failReason: inWords(failed), extras: { failedChecks: rationale } }) };
  },
};

const TOO_LONG = 'a pattern of the judge would take too long on an answer of this length';

/** The kinds first: failures are counted by what stands before the colon. */
function inWords(failed: readonly FailedCheck[]): string {
  const kinds = [...new Set(failed.map(({ kind }) => kind))].join(', ');
  return `${kinds}: ${failed.map(({ what }) => what).join('; ')}`;
}
