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
