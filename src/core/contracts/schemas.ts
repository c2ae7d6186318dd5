import { z } from 'zod';
import { describeIssue } from '../text/index.ts';
import { SkillError } from './errors.ts';

/** `schema.parse` that throws `CONFIG_INVALID`: `title`, then a line per problem. */
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

export const innerType = (schema: z.ZodType): z.ZodType => unwrap(schema).inner;

/** The type below `.default()` and `.optional()`, and its default. */
export function unwrap(schema: z.ZodType): { readonly inner: z.ZodType; readonly fallback?: unknown } {
  if (schema instanceof z.ZodDefault) return { inner: schema.unwrap() as z.ZodType, fallback: schema.def.defaultValue };
  return { inner: schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema };
}

export function keysAt(schema: z.ZodType | undefined, path: readonly PropertyKey[]): readonly string[] {
  const bare = schema && innerType(schema);
  const inner = bare instanceof z.ZodPipe ? bare.out : bare;
  const [key, ...rest] = path;
  if (inner instanceof z.ZodArray) return keysAt(inner.element as z.ZodType, rest);
  if (!(inner instanceof z.ZodObject)) return [];
  return key === undefined ? Object.keys(inner.shape) : keysAt(inner.shape[String(key)], rest);
}
