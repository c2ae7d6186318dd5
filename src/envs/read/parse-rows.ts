import { z } from 'zod';
import { keysAt } from '../../core/contracts/index.ts';
import { expectedBy, groupBy, head, plural, strip, unknownKeys, valueAt } from '../../core/text/index.ts';
import type { Row } from './row.ts';
import { tasksInvalid } from './tasks-invalid.ts';

type ParseOptions<Schema extends z.ZodType> = { readonly schema: Schema; readonly hint: string };

/** What the file calls the fields of a row, for messages, where it is something else. */
type Names = { readonly columns?: Readonly<Partial<Record<string, string>>> };

/** Every row with its value checked, in the same order, or one `TASKS_INVALID` that names each bad row's place. */
export function parseRows<Schema extends z.ZodType>(
  rows: readonly (Row & Names)[],
  { schema, hint }: ParseOptions<Schema>,
): Row<z.output<Schema>>[] {
  const parsed: Row<z.output<Schema>>[] = [];
  const problems: Problem[] = [];
  for (const row of rows) {
    const { success, data, error } = schema.safeParse(row.value);
    if (!success) problems.push(...error.issues.map((issue) => describe(row, issue, schema)));
    const { where, split } = row;
    parsed.push({ value: data as z.output<Schema>, where, ...(split === undefined ? {} : { split }) });
  }
  if (problems.length > 0) throw tasksInvalid(eachOnce(problems), hint);
  return parsed;
}

type Problem = { readonly where: string; readonly what: string };

/** What is wrong with many rows alike is said of the first of them. */
function eachOnce(problems: readonly Problem[]): string[] {
  return groupBy(problems, ({ what }) => what).map(([first, ...others]) => {
    const more = others.length === 0 ? '' : ` (and in ${plural(others.length, 'more row')})`;
    return `${first!.where}: ${first!.what}${more}`;
  });
}

function describe({ where, value, columns = {} }: Row & Names, issue: z.core.$ZodIssue, schema: z.ZodType): Problem {
  const path = issue.code === 'invalid_key' ? issue.path.slice(0, -1) : issue.path;
  const [field, ...inner] = path.map(String);
  const subject = field === undefined ? 'a task' : `"${[columns[field] ?? field, ...inner].join('.')}"`;
  return { where, what: `${subject} ${problemOf(issue, valueAt(issue, value), schema)}` };
}

function problemOf(issue: z.core.$ZodIssue, came: unknown, schema: z.ZodType): string {
  if (issue.code === 'unrecognized_keys') return `has the ${unknownKeys(issue.keys, keysAt(schema, issue.path))}`;
  if (issue.code === 'invalid_key')
    return `has the key ${quote(issue.path.at(-1))}: keys ${issue.issues[0]?.message ?? 'must be other ones'}`;
  // The schemas of tasks say what must be; what they leave to be said is said of settings as well.
  const expected = /^(Invalid|Too) /.test(issue.message)
    ? expectedBy(issue).replace(/^expected/, 'must be')
    : issue.message;
  return `${expected}, got ${quote(came)}`;
}

function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  const shown = head(text, 60);
  return shown === text ? text : `${shown}…`;
}

export const isFilled = (value: string) => strip(value) !== '';

const ID = 'must be non-empty text or a number';

/** A task's id as files write it: a number becomes text, so that 1 and "1" are one id. */
export const itemId = z.union([z.string().refine(isFilled, ID), z.number()], ID).transform(String);
