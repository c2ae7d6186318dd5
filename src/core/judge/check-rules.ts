import { suggestion } from '../text/closest-name.ts';
import { strip } from '../text/python-text.ts';
import { checkPattern } from './regex/python-regex.ts';
import { charBound, OPERATORS, RULE_OPS, type RuleOp } from './rule-operators.ts';

export type RuleProblems = {
  /** With any of them, nothing may be scored by this judge. */
  readonly errors: readonly string[];
  /** What is allowed and seldom meant. */
  readonly warnings: readonly string[];
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What is wrong with a rule judge as somebody wrote it: `{ checks: [{ op, arg }] }`. No judge at all is fine. */
export function checkRuleJudge(judge: unknown): RuleProblems {
  if (judge == null) return { errors: [], warnings: [] };
  if (!isObject(judge)) return { errors: ['a judge must be an object with checks'], warnings: [] };
  const { checks = [] } = judge;
  if (!Array.isArray(checks)) return { errors: ['checks must be a list'], warnings: [] };
  const errors = checks.flatMap((check, index) =>
    errorsInCheck(check).map((message) => `check ${index + 1} ${message}`),
  );
  return { errors, warnings: errors.length > 0 ? [] : warningsIn(checks) };
}

/** Written to stand behind the name of the check. */
export function errorsInCheck(check: unknown): string[] {
  if (!isObject(check)) return ['must be an object with op and arg'];
  const { op, arg, says } = check;
  if (typeof op !== 'string') return ['must have an op that is text'];
  if (!isOp(op)) return [`has the unknown op "${op}"${suggestion(op, RULE_OPS)}; there is ${RULE_OPS.join(', ')}`];
  const isSaid = says === undefined || (typeof says === 'string' && strip(says) !== '');
  return [...errorsInArgument(op, arg), ...(isSaid ? [] : ['must have non-empty text in says'])];
}

const isOp = (op: string): op is RuleOp => (RULE_OPS as readonly string[]).includes(op);

function errorsInArgument(op: RuleOp, arg: unknown): string[] {
  const { takes } = OPERATORS[op];
  if (takes === 'nothing') return [];
  if (takes === 'bound') return errorsInBound(op, arg);
  const isText = (typeof arg === 'string' && strip(arg) !== '') || Number.isFinite(arg);
  if (!isText) return [`(${op}) must have an arg that is non-empty text`];
  return takes === 'pattern' ? errorsInPattern(String(arg)) : [];
}

function errorsInBound(op: RuleOp, arg: unknown): string[] {
  const bound = charBound(arg);
  return bound !== undefined && bound >= 0 ? [] : [`(${op}) must have an arg that is a whole number of at least 0`];
}

function errorsInPattern(pattern: string): string[] {
  try {
    checkPattern(pattern);
    return [];
  } catch (error) {
    return [`has the pattern ${JSON.stringify(pattern)} that cannot be used: ${(error as Error).message}`];
  }
}

function warningsIn(checks: readonly { op: RuleOp; arg: unknown }[]): string[] {
  const idle = checks.flatMap(({ op, arg }, index) =>
    op === 'min_chars' && charBound(arg) === 0 ? [`check ${index + 1}: min_chars 0 holds of every answer`] : [],
  );
  const isOnlyShape = checks.length > 0 && checks.every(({ op }) => OPERATORS[op].isShape);
  return [...idle, ...(isOnlyShape ? ['the checks look at the form of an answer only, never at what it says'] : [])];
}
