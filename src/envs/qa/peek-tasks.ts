import { importTasks } from '../import/import-tasks.ts';
import { type Peeked, peekRows, requireSmallTree } from '../read/peek-rows.ts';
import { guessColumns } from './guess-columns.ts';
import { type Columns, type Fields, isBlank, isRecord, type NamedRow, nameColumns } from './qa-columns.ts';

/** What a file is, seen from its head. */
export type PeekedTasks = {
  readonly format: 'rows' | 'evals' | 'promptfoo';
  /** How many there are, where the whole file was seen. */
  readonly count: number | undefined;
  /** How many were seen, where it was not. */
  readonly atLeast: number;
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
    await requireSmallTree(path);
    const imported = await importTasks(path);
    const count = imported?.rows.length ?? 0;
    if (imported) return { format: imported.format, count, atLeast: count, ...NOTHING };
    return peekAt(await peekRows(path), path);
  } catch (error) {
    if (typeof (error as { code?: unknown }).code === 'string') return { problem: (error as Error).message }; // ours, and the system's
    throw error;
  }
}

const NOTHING = { columns: {}, guessed: {}, answers: [] };

function peekAt({ rows, total, atLeast }: Peeked, path: string): PeekedTasks | undefined {
  const isUsual = areTasks(nameColumns(rows));
  const guessed = isUsual ? {} : guessColumns(rows, path);
  const named = nameColumns(rows, guessed);
  if (!areTasks(named)) return undefined;
  const { question, answers, taskType } = named[0]?.columns ?? {};
  const columns = Object.fromEntries(
    Object.entries({ question, answers, taskType }).filter(([, name]) => name !== undefined),
  );
  return { format: 'rows', count: total, atLeast, columns, guessed, answers: named.flatMap(answersOf) };
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
