import { z } from 'zod';
import { compileSchema, type JsonSchema } from '../json-schema.ts';
import { checkPattern } from '../regex/python-regex.ts';

const weight = z.number('must be a number').min(0, 'must be at least 0').optional();
const threshold = z.number('must be a number').min(0, 'must be at least 0').optional();
const common = {
  /** Turns the verdict round. */
  not: z.boolean('must be true or false').optional(),
  /** How much it counts: 1. With 0 it is looked at and cannot fail. */
  weight,
};
const text = z.string('must be text');
const texts = z.array(text, 'must be a list of texts').min(1, 'must have a text').readonly();

/** A message of ours for whatever another reader throws. */
function readable<Value>(value: Value, read: (value: Value) => unknown, context: z.RefinementCtx): Value {
  try {
    read(value);
  } catch (error) {
    context.addIssue({ code: 'custom', message: `cannot be used: ${(error as Error).message}` });
  }
  return value;
}

/** In Python's syntax, as far as it can be matched in one pass over a text. */
export const pattern = text.transform((value, context) => readable(value, checkPattern, context));
export const jsonSchema = z
  .record(z.string(), z.unknown(), 'must be a JSON schema')
  .transform((value, context) => readable(value as JsonSchema, compileSchema, context));

const bounds = z.strictObject({ min: z.number().min(0).optional(), max: z.number().min(0).optional() });

const check = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.strictObject({ type: z.literal(type), ...shape, ...common });

/** One thing to look at. What two of them share stands in one file beside this one. */
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
  // A model decides these.
  check('rubric', { value: text, threshold }),
  check('factuality', { value: text, threshold }),
] as const;
const SingleCheck = z.discriminatedUnion('type', SINGLE, 'must have a known type');
export type SingleCheck = z.output<typeof SingleCheck>;

/** Checks that count as one: all of them must hold, or so much of their score as the threshold says. */
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
