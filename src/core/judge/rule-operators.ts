import { casefold, includesText, isObject, strip, suggestion } from '../text/index.ts';
import { checkPattern, searchPattern } from './regex/python-regex.ts';

/** One thing that must hold of an answer. */
export type RuleCheck = {
  readonly op: RuleOp;
  readonly arg?: string | number | null | undefined;
  /** What the optimizer reads when it does not hold, in place of our words. */
  readonly says?: string | undefined;
};

export type CheckedAnswer = { readonly text: string; readonly toolsCalled: readonly string[] };

type Operator = {
  readonly takes: 'text' | 'pattern' | 'bound' | 'nothing';
  /** Checks the form of an answer, not its contents. */
  readonly isShape?: true;
  /** `undefined`: it would take too long to know. */
  readonly holds: (answer: CheckedAnswer, arg: string) => boolean | undefined;
  /**
   * What is wrong, in a few words and in a sentence. It never shows a string that a check looks for: the optimizer would write it
   * into the skill, which then passes the check and is no better.
   */
  readonly wrong: (answer: CheckedAnswer, arg: string) => readonly [kind: string, what: string];
};

const lengthOf = (text: string) => Array.from(text).length;
const quoted = (text: string) => JSON.stringify(strip(text));

const operators = {
  section_present: {
    takes: 'text',
    isShape: true,
    holds: ({ text }, name) => searchPattern(sectionPattern(strip(name)), text),
    wrong: (_, name) => ['section missing', `no heading ends with ${quoted(name)}`],
  },
  section_contains: {
    takes: 'text',
    isShape: true,
    holds: ({ text }, name) => {
      const wanted = casefold(strip(name));
      const headings = text.split('\n').flatMap((line) => headingText(line) ?? []);
      return headings.some((heading) => includesText(heading, wanted));
    },
    wrong: (_, name) => ['section missing', `no heading contains ${quoted(name)}`],
  },
  regex: {
    takes: 'pattern',
    holds: ({ text }, pattern) => searchPattern(pattern, text),
    wrong: () => ['wrong form', 'it does not have a form that is required, which is not shown here'],
  },
  max_chars: {
    takes: 'bound',
    isShape: true,
    holds: ({ text }, bound) => lengthOf(text) <= charBound(bound)!,
    wrong: ({ text }, bound) => [
      'too long',
      `${lengthOf(text)} characters, and at most ${charBound(bound)} are allowed`,
    ],
  },
  min_chars: {
    takes: 'bound',
    isShape: true,
    holds: ({ text }, bound) => lengthOf(text) >= charBound(bound)!,
    wrong: ({ text }, bound) => [
      'too short',
      `${lengthOf(text)} characters, and at least ${charBound(bound)} are needed`,
    ],
  },
  contains: {
    takes: 'text',
    holds: ({ text }, wanted) => includesText(text.toLowerCase(), wanted.toLowerCase()),
    wrong: () => ['required words missing', 'it lacks words that are required, which are not shown here'],
  },
  not_contains: {
    takes: 'text',
    holds: ({ text }, forbidden) => !includesText(text.toLowerCase(), forbidden.toLowerCase()),
    wrong: () => ['forbidden words', 'it has words that are not allowed, which are not shown here'],
  },
  no_refusal: {
    takes: 'nothing',
    holds: ({ text }) => !isRefusal(text),
    wrong: ({ text }) => ['no answer', strip(text) === '' ? 'it is empty' : 'it refuses to do the task'],
  },
  tool_called: {
    takes: 'text',
    holds: ({ text, toolsCalled }, name) =>
      toolsCalled.some((tool) => tool.toLowerCase() === name.toLowerCase()) ||
      searchPattern(`(?i)tool_call\\s*:\\s*${escapePattern(name)}\\b`, text),
    wrong: (_, name) => ['tool not called', `the tool ${quoted(name)} was not called`],
  },
} satisfies Readonly<Record<string, Operator>>;

export type RuleOp = keyof typeof operators;
export const OPERATORS: Readonly<Record<RuleOp, Operator>> = operators;
export const RULE_OPS = Object.keys(OPERATORS) as readonly RuleOp[];

function charBound(arg: unknown): number | undefined {
  if (typeof arg === 'number') return Number.isInteger(arg) ? arg : undefined;
  if (typeof arg !== 'string' || !/^[+-]?\p{Nd}+$/u.test(strip(arg))) return undefined;
  return Number(strip(arg).replace(/\p{Nd}/gu, digitOf));
}

/** Digits stand in tens, each from its zero on. */
function digitOf(digit: string): string {
  const codePoint = digit.codePointAt(0)!;
  let zero = codePoint;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(zero - 1)) && codePoint - zero < 9) zero--;
  return String(codePoint - zero);
}

const escapePattern = (text: string) => text.replace(/[\0-/:-@[-`{-\x7f]/g, '\\$&');

/** A heading that ends with the name, a bold line with the name, or a line that begins with the name and a colon. */
function sectionPattern(name: string): string {
  const escaped = escapePattern(name);
  const bold = `\\s{0,3}\\*\\*[^*\\n]*${escaped}[^*\\n]*\\*\\*\\s*:?\\s*$`;
  return `(?im)^(?:\\s{0,3}#+.*${escaped}\\s*$|${bold}|\\s{0,3}${escaped}\\s*:)`;
}

function headingText(line: string): string | undefined {
  const found = /^ {0,3}#{1,6}(?:[ \t]|\r?$)/.exec(line);
  return found ? casefold(line.slice(found[0].length)) : undefined;
}

const REFUSAL = /^(?:i can't|i cannot|i'm unable|i am unable|i'm not able|i am not able|i won't|i'm sorry|sorry, )/;
const SHORT_ANSWER = 600; // a longer one does at least a part of the task
const MARKERS = /^(?:[\s>*+_#`~-]|\d{1,9}[.)])+/;

function isRefusal(text: string): boolean {
  const bare = strip(strip(text).replace(MARKERS, ''));
  if (bare === '') return true;
  return REFUSAL.test(bare.slice(0, 160).toLowerCase()) && lengthOf(bare) < SHORT_ANSWER;
}

export type RuleProblems = {
  readonly errors: readonly string[];
  /** Allowed, but seldom meant. */
  readonly warnings: readonly string[];
};

/** What is wrong with a rule judge, `{ checks: [{ op, arg }] }`. No judge at all is fine. */
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

export function errorsInCheck(check: unknown): string[] {
  if (!isObject(check)) return ['must be an object with op and arg'];
  const { op, arg, says } = check;
  if (typeof op !== 'string') return ['must have an op that is text'];
  if (!isOp(op)) return [`has the unknown op "${op}"${suggestion(op, RULE_OPS)}; there is ${RULE_OPS.join(', ')}`];
  const isSaid = says === undefined || (typeof says === 'string' && strip(says) !== '');
  return [...errorsInArgument(op, arg), ...(isSaid ? [] : ['must have non-empty text in says'])];
}

const isOp = (op: string): op is RuleOp => Object.hasOwn(OPERATORS, op);

function errorsInArgument(op: RuleOp, arg: unknown): string[] {
  const { takes } = OPERATORS[op];
  if (takes === 'nothing') return [];
  if (takes === 'bound') {
    const isBound = (charBound(arg) ?? -1) >= 0;
    return isBound ? [] : [`(${op}) must have an arg that is a whole number of at least 0`];
  }
  const isText = (typeof arg === 'string' && strip(arg) !== '') || Number.isFinite(arg);
  if (!isText) return [`(${op}) must have an arg that is non-empty text`];
  return takes === 'pattern' ? errorsInPattern(String(arg)) : [];
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
