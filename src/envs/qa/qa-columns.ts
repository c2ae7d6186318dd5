import { z } from 'zod';
import { memoize } from '../../core/memoize.ts';
import { isFilled } from '../read/parse-rows.ts';
import type { Row } from '../read/row.ts';
import { tasksInvalid } from '../read/tasks-invalid.ts';

/** What a task has, and what others call it, the likelier first. Case, spaces, `_` and `-` do not count. */
const ALIASES = {
  id: [],
  question: ['prompt', 'instruction', 'input', 'query', 'task'],
  answers: ['answer', 'expected', 'expected_output', 'output', 'reference', 'target'],
  taskType: ['type', 'category', 'kind', 'topic'],
  context: [],
  judge: [],
  split: [],
} as const satisfies Record<string, readonly string[]>;

type Field = keyof typeof ALIASES;
const FIELDS = Object.keys(ALIASES) as readonly Field[];

/** Columns of a file under our names for them, for those that nobody would guess. */
export const Columns = z.partialRecord(z.enum(FIELDS as [Field, ...Field[]]), z.string().min(1));
export type Columns = z.output<typeof Columns>;

/** A row under our names, with the file's own for messages. */
export type NamedRow = Row<unknown> & { readonly columns?: Readonly<Partial<Record<string, string>>> };

const normalise = memoize((name: string) => name.toLowerCase().replace(/[\s_-]/g, ''), { maxEntries: 10_000 });

/** Every row under our names. What no field is taken from is left where it is: in the file. */
export function nameColumns(rows: readonly Row[], columns: Columns = {}): NamedRow[] {
  requireColumns(rows, columns);
  return rows.map((row) => (isRecord(row.value) ? nameRow(row, row.value, columns) : row));
}

type Fields = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nameRow(row: Row, value: Fields, columns: Columns): NamedRow {
  const byName = groupKeys(value);
  const found = FIELDS.flatMap((field) => {
    const column = columnOf(field, { value, byName, columns });
    return column === undefined ? [] : [[field, column] as const];
  });
  const names = Object.fromEntries(found) as Partial<Record<Field, string>>;
  const context = names.context ?? secondInput(names, byName);
  const used = { ...names, ...(context === undefined ? {} : { context }) };
  const entries = Object.entries(used).map(([field, column]) => [field, takeValue(field as Field, column, value)]);
  return { ...row, value: Object.fromEntries(entries), columns: used };
}

/** Keys by their plain names. Two that differ in case or strokes only stand in the order of the file. */
function groupKeys(value: Fields): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const key of Object.keys(value)) {
    const name = normalise(key);
    const group = groups.get(name);
    if (group) group.push(key);
    else groups.set(name, [key]);
  }
  return groups;
}

type Look = { readonly value: Fields; readonly byName: ReadonlyMap<string, readonly string[]>; columns: Columns };

/** The column that a field is taken from: our own name before others, and one that says something before one that is blank. */
function columnOf(field: Field, { value, byName, columns }: Look): string | undefined {
  const named = columns[field];
  if (named !== undefined) return named in value ? named : undefined;
  const own = field in value ? [field, ...(byName.get(normalise(field)) ?? [])] : (byName.get(normalise(field)) ?? []);
  const others = ALIASES[field].flatMap((alias) => byName.get(normalise(alias)) ?? []);
  const usable = others.filter((column) => isUsable(field, value[column]));
  const shown = field === 'question' || field === 'answers' ? others : []; // what an error can show
  return [...own.filter((column) => !isBlank(value[column])), ...usable, ...own, ...shown][0];
}

const isBlank = (value: unknown) => value == null || (typeof value === 'string' && !isFilled(value));

/** Under a name that is not ours, only what can be meant: a `type` that is a number is no kind of task. */
function isUsable(field: Field, value: unknown): boolean {
  if (isBlank(value)) return false;
  return typeof value === 'string' || (field === 'answers' && (typeof value === 'number' || Array.isArray(value)));
}

/** Beside an `instruction`, the `input` is what it is about. */
function secondInput({ question }: Partial<Record<Field, string>>, byName: Look['byName']): string | undefined {
  return question !== undefined && normalise(question) === 'instruction' ? byName.get('input')?.[0] : undefined;
}

/** A text under another name than ours is one answer, whatever it begins with. A cell may hold a judge as JSON. */
function takeValue(field: Field, column: string, fields: Fields): unknown {
  const value = fields[column];
  const isOne = field === 'answers' && typeof value === 'string' && normalise(column) !== 'answers';
  if (isOne) return isFilled(value) ? [value] : value;
  if (field === 'judge' && typeof value === 'string') return isFilled(value) ? parseJudge(value) : undefined;
  return value;
}

function parseJudge(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function requireColumns(rows: readonly Row[], columns: Columns): void {
  const known = new Set(rows.flatMap(({ value }) => (isRecord(value) ? Object.keys(value) : [])));
  const missing = Object.entries(columns).filter(([, column]) => !known.has(column));
  if (missing.length === 0) return;
  const problems = missing.map(([field, column]) => `columns.${field}: no row has ${JSON.stringify(column)}`);
  throw tasksInvalid(problems, `There is ${[...known].slice(0, 20).join(', ')}.`);
}
