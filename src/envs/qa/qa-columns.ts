import { z } from 'zod';
import { memoize } from '../../core/text/index.ts';
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
  const planFor = rememberingPlan(columns);
  return rows.map((row) => (isRecord(row.value) ? nameRow(row, row.value, planFor(Object.keys(row.value))) : row));
}

export type Fields = Readonly<Record<string, unknown>>;
export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function nameRow(row: Row, value: Fields, { candidates, second }: Plan): NamedRow {
  const used: Partial<Record<Field, string>> = {};
  const named: Partial<Record<Field, unknown>> = {};
  for (const field of FIELDS) {
    const column = choose(field, candidates[field], value);
    if (column === undefined) continue;
    used[field] = column;
    named[field] = takeValue(field, column, value);
  }
  // Beside an `instruction`, the `input` is what it is about.
  if (second !== undefined && used.context === undefined && normalise(used.question ?? '') === 'instruction') {
    used.context = second;
    named.context = value[second];
  }
  const { split } = named;
  return { where: row.where, value: named, columns: used, ...(isBlank(split) ? {} : { split: String(split) }) };
}

type Candidates = { readonly own: readonly string[]; readonly others: readonly string[] };
type Plan = { readonly candidates: Readonly<Record<Field, Candidates>>; readonly second: string | undefined };

/** Which columns each field may be taken from. Rows of a table all have the same, so that the last plan mostly fits. */
function rememberingPlan(columns: Columns): (keys: readonly string[]) => Plan {
  let [known, plan]: [readonly string[], Plan] = [[], planColumns([], columns)];
  return (keys) => {
    const isSame = known.length === keys.length && known.every((key, index) => key === keys[index]);
    if (!isSame) [known, plan] = [keys, planColumns(keys, columns)];
    return plan;
  };
}

function planColumns(keys: readonly string[], columns: Columns): Plan {
  const called = (name: string) => keys.filter((key) => normalise(key) === normalise(name));
  const entries = FIELDS.map((field): [Field, Candidates] => {
    const named = columns[field];
    if (named !== undefined) return [field, { own: keys.includes(named) ? [named] : [], others: [] }];
    const own = [...keys.filter((key) => key === field), ...called(field)];
    return [field, { own, others: ALIASES[field].flatMap(called) }];
  });
  return { candidates: Object.fromEntries(entries) as Plan['candidates'], second: called('input')[0] };
}

/** Our own name before others, and a column that says something before one that is blank. */
function choose(field: Field, { own, others }: Candidates, value: Fields): string | undefined {
  const found =
    own.find((column) => !isBlank(value[column])) ?? others.find((column) => isUsable(field, value[column]));
  if (found !== undefined) return found;
  const isNeeded = field === 'question' || field === 'answers';
  return own[0] ?? (isNeeded ? others[0] : undefined); // what an error can show
}

export const isBlank = (value: unknown) => value == null || (typeof value === 'string' && !isFilled(value));

/** Under a name that is not ours, only what can be meant: a `type` that is a number is no kind of task. */
function isUsable(field: Field, value: unknown): boolean {
  if (isBlank(value)) return false;
  return typeof value === 'string' || (field === 'answers' && (typeof value === 'number' || Array.isArray(value)));
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
  if (Object.keys(columns).length === 0) return;
  const known = new Set(rows.flatMap(({ value }) => (isRecord(value) ? Object.keys(value) : [])));
  const missing = Object.entries(columns).filter(([, column]) => !known.has(column));
  if (missing.length === 0) return;
  const problems = missing.map(([field, column]) => `columns.${field}: no row has ${JSON.stringify(column)}`);
  throw tasksInvalid(problems, `There is ${[...known].slice(0, 20).join(', ')}.`);
}
