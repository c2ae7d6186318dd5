import { z } from 'zod';
import { endOfJson, includesText, memoize, parseJson } from '../text/index.ts';
import { Threw, TooMuch } from './javascript/nodes.ts';
import { readJavaScript } from './javascript/read-javascript.ts';
import { compileSchema, type JsonSchema, whyUnfit } from './json-schema.ts';
import { checkPattern, searchPattern } from './regex/python-regex.ts';

const weight = z.number('must be a number').min(0, 'must be at least 0').optional();
const threshold = z.number('must be a number').min(0, 'must be at least 0').optional();
const common = {
  not: z.boolean('must be true or false').optional(),
  /** How much it counts; 1 by default. With 0 it cannot fail. */
  weight,
};
const text = z.string('must be text');
const texts = z.array(text, 'must be a list of texts').min(1, 'must have a text').readonly();

function readable<Value>(value: Value, read: (value: Value) => unknown, context: z.RefinementCtx): Value {
  try {
    read(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `cannot be used: ${(error as Error).message}` });
  }
  return value;
}

/** Python's syntax, as far as it can be matched in one pass. */
export const pattern = text.transform((value, context) => readable(value, checkPattern, context));
export const jsonSchema = z
  .record(z.string(), z.unknown(), 'must be a JSON schema')
  .transform((value, context) => readable(value as JsonSchema, compileSchema, context));

/**
 * The JavaScript that people write into checks, `output.length > 300 && output.includes('x')`: expressions over `output` and
 * `context.vars`, as promptfoo has it, constants in front of them, and nothing else. It is read and walked through, and never given to
 * an engine. What is not known is refused when it is read, so that no check means something else here than there.
 */
const readCode = memoize(readJavaScript, { maxEntries: 500 });
const code = text.transform((value, context) => readable(value, readCode, context));

const bounds = z.strictObject({ min: z.number().min(0).optional(), max: z.number().min(0).optional() });

const check = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape, ...common });

const SINGLE = [
  check('contains', { value: text }),
  check('icontains', { value: text }),
  check('contains-any', { value: texts }),
  check('contains-all', { value: texts }),
  check('icontains-any', { value: texts }),
  check('icontains-all', { value: texts }),
  check('starts-with', { value: text }),
  check('regex', { value: pattern }),
  check('equals', { value: z.unknown() }),
  check('is-json', { value: jsonSchema.optional() }),
  check('contains-json', { value: jsonSchema.optional() }),
  check('word-count', { value: z.union([z.number().int().min(0), bounds], 'must be a number, or min and max') }),
  check('levenshtein', { value: text, threshold }),
  check('javascript', { value: code, vars: z.record(z.string(), z.unknown()).optional() }),
  // A model decides these.
  check('rubric', { value: text, threshold }),
  check('factuality', { value: text, threshold }),
] as const;
const SingleCheck = z.discriminatedUnion('type', SINGLE, 'must have a known type');
export type SingleCheck = z.output<typeof SingleCheck>;

/** Checks that count as one: all must hold, or their score must reach the threshold. */
const CheckSet = z.strictObject({
  type: z.literal('set'),
  checks: z.array(SingleCheck).min(1, 'must have a check').readonly(),
  weight,
  threshold,
});
export type CheckSet = z.output<typeof CheckSet>;

export const ChecksJudge = z.strictObject({
  kind: z.literal('checks'),
  checks: z
    .array(z.discriminatedUnion('type', [...SINGLE, CheckSet], 'must have a known type'), 'must be a list of checks')
    .min(1, 'must have a check')
    .readonly(),
  /** The score that passes. Without it, every check must hold. */
  threshold,
});
export type ChecksJudge = z.output<typeof ChecksJudge>;

export type ModelCheck = Extract<SingleCheck, { type: 'rubric' | 'factuality' }>;
export const isModelCheck = (each: SingleCheck | CheckSet): each is ModelCheck =>
  each.type === 'rubric' || each.type === 'factuality';

type DecidedCheck = Exclude<SingleCheck, ModelCheck>;
type JavaScriptCheck = Extract<SingleCheck, { type: 'javascript' }>;
type Decide<Check> = (answer: string, check: Check) => boolean | undefined;

const includesFolded = (answer: string, text: string) => includesText(answer.toLowerCase(), text.toLowerCase());

const DECIDE: { readonly [Type in DecidedCheck['type']]: Decide<Extract<DecidedCheck, { type: Type }>> } = {
  contains: (answer, { value }) => includesText(answer, value),
  icontains: (answer, { value }) => includesFolded(answer, value),
  'contains-any': (answer, { value }) => value.some((text) => includesText(answer, text)),
  'contains-all': (answer, { value }) => value.every((text) => includesText(answer, text)),
  'icontains-any': (answer, { value }) => value.some((text) => includesFolded(answer, text)),
  'icontains-all': (answer, { value }) => value.every((text) => includesFolded(answer, text)),
  'starts-with': (answer, { value }) => answer.startsWith(value),
  regex: (answer, { value }) => searchPattern(value, answer),
  equals: (answer, { value }) => equalsValue(answer, value),
  'is-json': (answer, { value }) => {
    const json = parseJson(answer);
    return json !== undefined && fits(json, value);
  },
  'contains-json': (answer, { value }) => jsonValuesIn(answer).some((json) => fits(json, value)),
  'word-count': (answer, { value }) => {
    const count = answer.split(/\s+/).filter((word) => word !== '').length;
    const { min = 0, max = Number.POSITIVE_INFINITY } = typeof value === 'number' ? { min: value, max: value } : value;
    return count >= min && count <= max;
  },
  javascript: holdsCode,
  levenshtein: (answer, { value, threshold = 5 }) => {
    const distance = editDistance(answer, value);
    return distance === undefined ? undefined : distance <= threshold;
  },
};

/** `undefined`: it would take too long to know. */
export const holdsCheck = (check: DecidedCheck, answer: string): boolean | undefined =>
  (DECIDE[check.type] as Decide<DecidedCheck>)(answer, check);

/** About a second. */
const MAX_STEPS = 20_000_000;

/** `undefined`: it takes too long to know. Where an engine would throw, the check fails, also one that is negated. */
function holdsCode(answer: string, { value, vars = {}, not = false }: JavaScriptCheck): boolean | undefined {
  const { statements, result } = readCode(value);
  const values = new Map<string, unknown>([
    ['output', answer],
    ['context', { vars }],
  ]);
  let left = MAX_STEPS;
  const spend = (steps: number) => {
    left -= steps + 1;
    if (left < 0) throw new TooMuch();
  };
  try {
    const scope = { values, spend };
    for (const { name, value: made } of statements) values.set(name, made.run(scope));
    return result.run(scope) === true;
  } catch (error) {
    if (error instanceof Threw) return not;
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}

/** A table of more cells takes seconds to fill. */
const MAX_CELLS = 25_000_000;

/** Letters to change, add or take away. `undefined`: the texts are too long to compare. */
function editDistance(a: string, b: string): number | undefined {
  if (a.length * b.length > MAX_CELLS) return undefined;
  let above = Uint32Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = new Uint32Array(b.length + 1);
    current[0] = row;
    for (let column = 1; column <= b.length; column++) {
      const change = above[column - 1]! + (a.charCodeAt(row - 1) === b.charCodeAt(column - 1) ? 0 : 1);
      current[column] = Math.min(change, above[column]! + 1, current[column - 1]! + 1);
    }
    above = current;
  }
  return above[b.length]!;
}

const fits = (value: unknown, schema: JsonSchema | undefined) =>
  schema === undefined || whyUnfit(value, schema) === undefined;

/** Each beginning that comes to nothing is read to the end of the text. */
const MAX_STARTS = 200;

/** Every outermost object and list in a text, in order. */
function jsonValuesIn(text: string): unknown[] {
  const found: unknown[] = [];
  let [behind, starts] = [0, 0];
  for (const { index } of text.matchAll(/[{[]/g)) {
    if (index < behind) continue;
    if (++starts > MAX_STARTS) return found;
    const end = endOfJson(text, index);
    const value = end === undefined ? undefined : parseJson(text.slice(index, end));
    if (value === undefined) continue;
    found.push(value);
    behind = end!;
  }
  return found;
}

/** A text must be equal; an object or list equal as JSON, whatever the order of its keys. */
function equalsValue(answer: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return answer === String(value);
  const given = parseJson(answer);
  return given !== undefined && isSame(given, value);
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(left);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isSame(left[key], right[key]));
}
