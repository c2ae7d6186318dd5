import { z } from 'zod';
import { SkillError } from '../errors.ts';
import { describeIssue } from './describe-issue.ts';

/** `schema.parse` that throws `CONFIG_INVALID`: `title`, then what was expected and what came, a line per problem. */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  title: string,
  hint = listKeys(schema),
): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => `  ${describeIssue(issue, input)}`);
  throw new SkillError('CONFIG_INVALID', [title, ...problems].join('\n'), { hint });
}

const listKeys = (schema: z.ZodType) =>
  schema instanceof z.ZodObject ? `It may have: ${Object.keys(schema.shape).join(', ')}.` : '';

type Unwrapped = { readonly inner: z.ZodType; readonly fallback?: unknown };

/** The type below `.default()` and `.optional()`. */
export const innerType = (schema: z.ZodType): z.ZodType => unwrap(schema).inner;

/** A type and its default. */
export function unwrap(schema: z.ZodType): Unwrapped {
  if (schema instanceof z.ZodDefault) return { inner: schema.unwrap() as z.ZodType, fallback: schema.def.defaultValue };
  return { inner: schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema };
}

/** The keys that a schema knows at a path; none where it has no list of them. */
export function keysAt(schema: z.ZodType | undefined, path: readonly PropertyKey[]): readonly string[] {
  const inner = schema && withoutPipe(innerType(schema));
  const [key, ...rest] = path;
  if (inner instanceof z.ZodArray) return keysAt(inner.element as z.ZodType, rest);
  if (!(inner instanceof z.ZodObject)) return [];
  return key === undefined ? Object.keys(inner.shape) : keysAt(inner.shape[String(key)], rest);
}

const withoutPipe = (schema: z.ZodType): z.ZodType =>
  schema instanceof z.ZodPipe ? (schema.out as z.ZodType) : schema;

type Limits = { readonly maxDepth?: number; readonly maxValues?: number };

/**
 * What is wrong with a value that is too deep or too large to be walked through, or `undefined`. One that holds itself is
 * too deep; one that is small on paper, because its parts are used many times, is as large as what it stands for.
 */
export function whyTooMuch(value: unknown, { maxDepth = 100, maxValues = 100_000 }: Limits = {}): string | undefined {
  const rest: { readonly value: unknown; readonly depth: number }[] = [{ value, depth: 0 }];
  let count = 0;
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (next.depth > maxDepth) return `nested more than ${maxDepth} levels deep, or in a circle`;
    if (++count > maxValues) return `more than ${maxValues.toLocaleString('en-US')} values`;
    if (typeof next.value !== 'object' || next.value === null) continue;
    for (const part of Object.values(next.value)) rest.push({ value: part, depth: next.depth + 1 });
  }
  return undefined;
}
