import { z } from 'zod';
import { type Item, keysAt, SkillError } from '../core/contracts/index.ts';
import {
  defined,
  expectedBy,
  groupBy,
  head,
  isObject,
  joined,
  plural,
  strip,
  textOf,
  unknownKeys,
  valueAt,
} from '../core/text/index.ts';

/** A task as a file holds it. */
export type Row<T = unknown> = {
  readonly value: T;
  /** File and line where the task begins, such as `tasks.jsonl:17`. */
  readonly where: string;
  /** The split that the file names for it, as it is written there. */
  readonly split?: string;
  /** The same for rows that ask the same: what one of them teaches, the others must not measure. */
  readonly twin?: string;
  /** What it shares with other rows, such as a document: rows that share one are never drawn into different splits. */
  readonly group?: readonly string[];
};

/** Marks rows that have a key in common, or a `twin` already. All other rows stay as they are. */
export function withTwins<T>(rows: readonly Row<T>[], keyOf: (value: T) => string): Row<T>[] {
  const keys = rows.map(({ value, twin }) => [`asks ${keyOf(value)}`, ...(twin === undefined ? [] : [`of ${twin}`])]);
  const marked: Row<T>[] = Array(rows.length);
  for (const group of joined(keys))
    for (const index of group)
      marked[index] = withTwin(rows[index]!, group.length > 1 ? rows[group[0]!]!.where : undefined);
  return marked;
}

function withTwin<T>(row: Row<T>, twin: string | undefined): Row<T> {
  if (twin !== undefined) return { ...row, twin };
  const { twin: none, ...rest } = row;
  return none === undefined ? row : rest;
}

/** Rows whose split stands among their fields, with it beside them. */
export function takeSplits(rows: readonly Row[]): Row[] {
  return rows.map((row) => {
    const { value } = row;
    if (typeof value !== 'object' || value === null || !('split' in value) || row.split !== undefined) return row;
    const { split, ...rest } = value;
    return { ...row, value: rest, ...(split == null ? {} : { split: textOf(split) }) };
  });
}

/** Throws when two rows have one id: a task in two splits would be trained on and then measured. */
export function checkUniqueIds(rows: readonly Row<Item>[]): void {
  const places = new Map<string, string>();
  const problems: string[] = [];
  for (const { value, where } of rows) {
    const earlier = places.get(value.id);
    if (earlier === undefined) places.set(value.id, where);
    else problems.push(`${earlier} and ${where} share the id ${JSON.stringify(value.id)}`);
  }
  if (problems.length > 0) throw tasksInvalid(problems, 'Give every task an id of its own, in all splits together.');
}

const MOST_SHOWN = 5;

/** One `TASKS_INVALID` for any number of problems: a line for each of the first five, a count of the rest. */
export function tasksInvalid(problems: readonly string[], hint: string, cause?: unknown): SkillError {
  const rest = problems.length - MOST_SHOWN;
  const lines = [...problems.slice(0, MOST_SHOWN), ...(rest > 0 ? [`… and ${rest} more`] : [])];
  return new SkillError('TASKS_INVALID', lines.join('\n'), { hint, cause });
}

/** The error for a file that is not there, or that the system does not let us read. */
export function unreadable(path: string, error: NodeJS.ErrnoException): SkillError {
  const problem = error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${error.message}`;
  return tasksInvalid([`${path} ${problem}`], 'Check the path of the task file.', error);
}

/** What the file calls the fields of a row, for messages, where it is something else. */
type Names = { readonly columns?: Readonly<Partial<Record<string, string>>> };

/** Every row with its value checked, in the same order, or one `TASKS_INVALID` that names each bad row's place. */
export function parseRows<Schema extends z.ZodType>(
  rows: readonly (Row & Names)[],
  { schema, hint }: { readonly schema: Schema; readonly hint: string },
): Row<z.output<Schema>>[] {
  const parsed: Row<z.output<Schema>>[] = [];
  const problems: Problem[] = [];
  for (const row of rows) {
    const { success, data, error } = schema.safeParse(row.value);
    if (!success) problems.push(...error.issues.map((issue) => describe(row, issue, schema)));
    const { where, split, twin, group } = row;
    parsed.push({ value: data as z.output<Schema>, where, ...defined({ split, twin, group }) });
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

/** Where an object may keep its list of tasks, in the order of looking. */
export const LIST_KEYS = ['data', 'items'] as const;

/** Whether a file's `root` is itself a task: its values are then fields, not tasks. */
export const isTask = (root: unknown): boolean => isObject(root) && 'id' in root;

/** Whether a file's `root` holds its tasks by name: `{ "q1": { … }, "q2": { … } }`. */
export function isTasksByName(root: unknown): root is Readonly<Record<string, object>> {
  const values = isObject(root) ? Object.values(root) : [];
  return values.length > 0 && values.every(isObject);
}

/** What `skillopt sleep harvest` writes. */
const isOfSleep = (root: unknown) =>
  /^skillopt_sleep\.tasks\./.test(textOf((root as { format?: unknown } | null)?.format));

/** The error for a file whose `root` is no list and holds none. */
export function notAList(root: unknown, path: string): SkillError {
  if (isOfSleep(root)) {
    const problem = `${path}: expected tasks with questions and answers, got tasks of skillopt sleep harvest, which no answer key scores`;
    return tasksInvalid([problem], 'They are for a night of sleep.');
  }
  const keys =
    typeof root === 'object' && root !== null ? Object.keys(root).map((key) => JSON.stringify(key)) : undefined;
  const came = keys ? `an object with the keys ${keys.join(', ')}` : JSON.stringify(root);
  const problem = `${path}: expected a list of tasks, or an object with a list under "data" or "items" or with tasks by name, got ${came}`;
  return tasksInvalid([problem], 'Make the file a list of tasks, or write one task per line into a .jsonl file.');
}

/** A string without an end is read to the end of the text, once. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"?|[[\]{},:\n]|[^\s"[\]{},:]+/g;

type JsonPiece = { readonly token: string; readonly previous: string; readonly line: number; readonly depth: number };

/** The pieces of a text that is known to be JSON. A parser that keeps positions would take seconds for what this does in a moment. */
function* pieces(text: string): Generator<JsonPiece> {
  let [line, depth, previous] = [1, 0, ''];
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '\n') {
      line++;
      continue;
    }
    yield { token, previous, line, depth };
    if (token === '[' || token === '{') depth++;
    if (token === ']' || token === '}') depth--;
    previous = token;
  }
}

/** The line on which each element of a list begins. `key` names the list when it is an entry of an object. */
export function elementLines(text: string, key?: string): number[] {
  const listDepth = key === undefined ? 1 : 2;
  const lines: number[] = [];
  let entry: string | undefined;
  for (const { token, previous, line, depth } of pieces(text)) {
    const isFirstToken = (previous === '[' || previous === ',') && token !== ']';
    if (isFirstToken && depth === listDepth && entry === key) lines.push(line);
    if (token === ':' && depth === 1) entry = JSON.parse(previous);
  }
  return lines;
}

/** The keys of an object in the order of the text, which is not the object's own if they are numbers, and their lines. */
export function entryLines(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  let keyLine = 1;
  for (const { token, previous, line, depth } of pieces(text)) {
    if (token === ':' && depth === 1 && !lines.has(JSON.parse(previous))) lines.set(JSON.parse(previous), keyLine);
    keyLine = line;
  }
  return lines;
}
