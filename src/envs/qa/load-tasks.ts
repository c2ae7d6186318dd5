import { fillScoring, needsAnswers, type Scoring } from '../../core/judge/index.ts';
import { importTasks } from '../import/import-tasks.ts';
import type { LeftOut } from '../import/left-out.ts';
import { withContentIds } from '../read/content-id.ts';
import { loadItems } from '../read/load-items.ts';
import { parseRows } from '../read/parse-rows.ts';
import type { Row } from '../read/row.ts';
import { tasksInvalid } from '../read/tasks-invalid.ts';
import { type DraftMarks, marksOf } from './draft-marks.ts';
import { type Columns, type Fields, isBlank, isRecord, type NamedRow, nameColumns } from './qa-columns.ts';
import { QA_ITEM_HINT, QaItem } from './qa-item.ts';

export type TaskOptions = {
  /** What the file calls what we call `question`, `answers` …, where it is none of the usual names. */
  readonly columns?: Columns | undefined;
  /** How tasks without a judge of their own are scored. Default: by whether the answer is one of `answers`. */
  readonly scoring?: Scoring | undefined;
};

export type LoadedTasks = {
  /** Checked, each with its place and the split that the file names, if any. */
  readonly rows: readonly Row<QaItem>[];
  /** What is in the file and not among the tasks, and why. */
  readonly leftOut: readonly LeftOut[];
  /** Of tasks that a model drafted, by their place. */
  readonly marks: ReadonlyMap<string, DraftMarks>;
};

/**
 * The tasks of a file, whatever it is: rows under the usual names of columns, evals of a skill, or a promptfoo config. A
 * task without an id gets one from its content; equal ones are one task. Throws `TASKS_INVALID` with a line for each bad row.
 */
export async function loadTasks(path: string, { columns, scoring }: TaskOptions = {}): Promise<LoadedTasks> {
  const imported = await importTasks(path);
  if (imported === undefined) return tasksOf(await loadItems(path), { columns, scoring });
  const { leftOut, ...tasks } = tasksOf(imported.rows, { scoring }, IMPORT_HINT);
  return { ...tasks, leftOut: [...imported.leftOut, ...leftOut] };
}

/** The tasks in rows, or in the first rows of a file. */
export function tasksOf(raw: readonly Row[], { columns, scoring }: TaskOptions, hint = QA_ITEM_HINT): LoadedTasks {
  const { rows, leftOut } = withContentIds(nameColumns(raw, columns), contentOf);
  const judged = scoring === undefined ? rows : withJudges(rows, scoring);
  const parsed = parseRows(judged, { schema: QaItem, hint: hintFor(judged, hint) });
  return { rows: parsed, leftOut, marks: marksOf(raw) };
}

const IMPORT_HINT = 'What is imported must have a question and checks.';

const fieldsOf = ({ value }: Row): Fields => (isRecord(value) ? value : {});

/** What a task asks and how it is scored. Neither its kind nor its split makes it another one. */
function contentOf({ question, context, answers, judge }: Fields): unknown {
  const golds = Array.isArray(answers) ? answers : isBlank(answers) ? [] : [answers];
  return [question, isBlank(context) ? null : context, golds.map(String), judge ?? null];
}

/** The project's way of scoring, for tasks that have none of their own. */
function withJudges(rows: readonly NamedRow[], scoring: Scoring): NamedRow[] {
  const problems: string[] = [];
  const judged = rows.map((row) => {
    const { judge, answers } = fieldsOf(row);
    const golds = (Array.isArray(answers) ? answers : [answers]).filter((gold) => !isBlank(gold)).map(String);
    if (judge != null || (golds.length === 0 && needsAnswers(scoring))) return row;
    const filled = fillScoring(scoring, golds);
    if (filled.judge === undefined) problems.push(`${row.where}: ${filled.problem}`);
    return { ...row, value: { ...fieldsOf(row), judge: filled.judge } };
  });
  if (problems.length > 0) throw tasksInvalid(problems, 'Mend the answers, or give such tasks a judge of their own.');
  return judged;
}

/** For a file whose columns have names that nobody could guess, how to say which is which. */
function hintFor(rows: readonly NamedRow[], hint: string): string {
  const stranger = rows.find(({ columns }) => columns && columns.question === undefined);
  return stranger ? `${hint} Other names of columns: columns: { question: NAME, answers: NAME }` : hint;
}
