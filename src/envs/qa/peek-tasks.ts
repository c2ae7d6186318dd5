import { importTasks } from '../import/import-tasks.ts';
import { peekRows } from '../read/peek-rows.ts';
import type { Row } from '../read/row.ts';
import { guessColumns } from './guess-columns.ts';
import { type Columns, type Fields, isBlank, isRecord, type NamedRow, nameColumns } from './qa-columns.ts';

/** What a file is, seen from its head. */
export type PeekedTasks = {
  readonly format: 'rows' | 'evals' | 'promptfoo';
  /** How many there are, where the whole file was seen. */
  readonly count: number | undefined;
  /** What the file calls `question`, `answers` and `taskType`. Empty for other tools' files. */
  readonly columns: Readonly<Partial<Record<string, string>>>;
  /** Those of them that nobody knows by their names: a project has to name them. */
  readonly guessed: Columns;
  /** Gold answers of some tasks that have no judge of their own. */
  readonly answers: readonly string[];
};

/** Of the rows that were seen, so many must be tasks. */
const MOST_ODD = 0.2;

/** What is wrong with a file that cannot be read as what its name says. */
export type Unreadable = { readonly problem: string };

/** The tasks in a file; `undefined` for a file that holds none. Nothing in it is run. */
export async function peekTasks(path: string): Promise<PeekedTasks | Unreadable | undefined> {
  try {
    const imported = await importTasks(path);
    if (imported) return { format: imported.format, count: imported.rows.length, ...NOTHING };
    const { rows = [], total } = (await peekRows(path)) ?? {};
    return peekAt(rows, total, path);
  } catch (error) {
    if (typeof (error as { code?: unknown }).code === 'string') return { problem: (error as Error).message }; // ours, and the system's
    throw error;
  }
}

const NOTHING = { columns: {}, guessed: {}, answers: [] };

function peekAt(rows: readonly Row[], count: number | undefined, path: string): PeekedTasks | undefined {
  const isUsual = areTasks(nameColumns(rows));
  const guessed = isUsual ? {} : guessColumns(rows, path);
  const named = nameColumns(rows, guessed);
  if (!areTasks(named)) return undefined;
  const { question, answers, taskType } = named[0]?.columns ?? {};
  const columns = Object.fromEntries(
    Object.entries({ question, answers, taskType }).filter(([, name]) => name !== undefined),
  );
  return { format: 'rows', count, columns, guessed, answers: named.flatMap(answersOf) };
}

const fieldsOf = ({ value }: NamedRow): Fields => (isRecord(value) ? value : {});

function areTasks(rows: readonly NamedRow[]): boolean {
  const odd = rows.filter((row) => {
    const { question, answers, judge } = fieldsOf(row);
    return typeof question !== 'string' || isBlank(question) || (isBlank(answers) && isBlank(judge));
  });
  return rows.length > 0 && odd.length <= MOST_ODD * rows.length;
}

function answersOf(row: NamedRow): string[] {
  const { answers, judge } = fieldsOf(row);
  if (!isBlank(judge)) return [];
  return (Array.isArray(answers) ? answers : [answers]).filter((answer) => !isBlank(answer)).map(String);
}
