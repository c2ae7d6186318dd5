import { parse } from 'csv-parse/sync';
import type { z } from 'zod';
import { ChecksJudge, fromJsPattern } from '../../core/judge/index.ts';
import { textOf } from '../../core/text/index.ts';
import { NotCarried, orNotCarried } from '../left-out.ts';

type Check = z.input<typeof ChecksJudge>['checks'][number];
export type Assertion = Readonly<Record<string, unknown>>;

/** Why whole families of checks have no place here. */
const REASONS: readonly (readonly [why: string, types: string])[] = [
  ['code', 'python ruby'],
  ['calls a server', 'webhook'],
  ['needs an embedding model', 'similar answer-relevance'],
  ['needs a classifier', 'classifier'],
  ['needs a moderation service', 'moderation'],
  ['needs log probabilities', 'perplexity perplexity-score'],
  ['needs a scoring service', 'pi'],
  ['judges a context by a method of its own', 'context-faithfulness context-recall context-relevance'],
  ['needs a search of the web', 'search-rubric'],
  ['compares several answers', 'select-best max-score'],
  ['judges a whole conversation', 'conversation-relevance'],
  ['a refusal is recognised by a list of phrases that changes', 'is-refusal'],
  ['its score depends on the library that computes it', 'rouge-n bleu gleu meteor'],
  ['there is no parser for it here', 'is-xml contains-xml is-html contains-html is-sql contains-sql'],
  ['is about a call and not about an answer', 'latency cost finish-reason'],
  ['needs what an agent did beside its answer', 'skill-used'],
  [
    'needs what the provider recorded: a trace',
    `trajectory:tool-used trajectory:tool-args-match trajectory:tool-sequence trajectory:step-count
     trajectory:goal-success trace-span-count trace-span-duration trace-error-spans`,
  ],
  [
    'needs what the provider returned beside the text',
    'tool-call-f1 is-valid-openai-tools-call is-valid-openai-function-call is-valid-function-call guardrails',
  ],
];
const WHY_NOT = new Map(
  REASONS.flatMap(([why, types]) => (types.match(/\S+/g) ?? []).map((type) => [type, why] as const)),
);

type Made = Readonly<Record<string, unknown>>;
type Maker = (value: unknown, assertion: Assertion) => Made;

const text = (value: unknown): string => {
  if (value == null) throw new NotCarried('the value is missing');
  if (typeof value === 'object') throw new NotCarried('its value must be a text');
  return textOf(value);
};

/** A list, or one text with commas between the values; one with a comma in it stands in quotes. */
const texts = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.map(text);
  const [line = []] = parse(text(value), { trim: true, relaxQuotes: true, relaxColumnCount: true }) as string[][];
  return line.filter((part) => part !== '');
};

const schema = (value: unknown): Made => {
  const read = typeof value === 'string' ? parseSchema(value) : value;
  return read === undefined ? {} : { value: read };
};

function parseSchema(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw new NotCarried('its schema is no JSON');
  }
}

const plain =
  (type: string): Maker =>
  (value) => ({ type, value: text(value) });
const listed =
  (type: string): Maker =>
  (value) => ({ type, value: texts(value) });
const graded =
  (type: string, bar?: number): Maker =>
  (value, { threshold = bar }) => ({ type, value: text(value), ...(threshold == null ? {} : { threshold }) });

function wordCount(value: unknown): Made {
  const isCount = typeof value === 'string' && /^\d+$/.test(value.trim());
  return { type: 'word-count', value: isCount ? Number(value) : value };
}

/** Code with the variables that it names. */
function code(value: string, vars: Assertion): Made {
  const names = Array.from(value.matchAll(/\bcontext\??\.vars\??\.([A-Za-z_$][\w$]*)/g), ([, name]) => name!);
  const used = Object.fromEntries(names.flatMap((name) => (vars[name] === undefined ? [] : [[name, vars[name]]])));
  if (JSON.stringify(used).includes('{{')) throw new NotCarried('its code reads a variable that is a template');
  return { value, ...(names.length === 0 ? {} : { vars: used }) };
}

/** Their verdict is made by a program. A test that loses one of them would pass what that program fails. */
const DECIDED_BY_CODE = ['javascript', 'python', 'ruby', 'webhook'];

export const isCode = ({ type, weight }: Assertion): boolean =>
  weight !== 0 && DECIDED_BY_CODE.includes(textOf(type).replace(/^not-/, ''));

/** What each type of theirs is called here. */
const MAKERS: Readonly<Record<string, Maker>> = {
  contains: plain('contains'),
  icontains: plain('icontains'),
  'contains-any': listed('contains-any'),
  'contains-all': listed('contains-all'),
  'icontains-any': listed('icontains-any'),
  'icontains-all': listed('icontains-all'),
  'starts-with': plain('starts-with'),
  regex: (value) => ({ type: 'regex', value: orNotCarried(() => fromJsPattern(text(value))) }),
  equals: (value) => ({ type: 'equals', value: typeof value === 'object' && value !== null ? value : text(value) }),
  'is-json': (value) => ({ type: 'is-json', ...schema(value) }),
  'contains-json': (value) => ({ type: 'contains-json', ...schema(value) }),
  'word-count': wordCount,
  javascript: (value, { vars }) => ({ type: 'javascript', ...code(text(value), vars as Assertion) }),
  levenshtein: graded('levenshtein', 5),
  'llm-rubric': graded('rubric'),
  'model-graded-closedqa': graded('rubric'),
  'g-eval': graded('rubric', 0.7),
  factuality: graded('factuality'),
  'model-graded-factuality': graded('factuality'),
};

/** Names that a table may write before a colon. */
export const isKnownType = (type: string): boolean => Object.hasOwn(MAKERS, type) || WHY_NOT.has(type);

/** A check of theirs, whose value is filled in, as one of ours. Throws `NotCarried`. */
export function toCheck(assertion: Assertion): Check {
  const { type, value, weight } = assertion;
  if (typeof type !== 'string' || type === '') throw new NotCarried('an assertion must have a type');
  const isNegated = type.startsWith('not-');
  const name = isNegated ? type.slice(4) : type;
  const why = WHY_NOT.get(name);
  if (why !== undefined) throw new NotCarried(why);
  if (!Object.hasOwn(MAKERS, name)) throw new NotCarried('promptfoo has no such type');
  if (assertion.transform !== undefined) throw new NotCarried('code changes the answer first (transform)');
  const made = MAKERS[name]!(value, assertion);
  return requireCheck({ ...made, ...(isNegated ? { not: true } : {}), ...(weight == null ? {} : { weight }) });
}

/** As our own reader takes it. */
export function requireCheck(check: Made): Check {
  const read = ChecksJudge.safeParse({ kind: 'checks', checks: [check] });
  if (read.success) return check as Check;
  const [issue] = read.error.issues;
  throw new NotCarried(`${issue!.path.slice(2).join('.') || 'it'} ${issue!.message}`);
}
