import { type Sandbox, type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import { fillScoring, needsAnswers, type Scoring, type TaskScorer } from '../../core/judge/index.ts';
import { askedKey, defined, isObject, textOf } from '../../core/text/index.ts';
import {
  type Imported,
  importTasks,
  type LeftOut,
  loadItems,
  type Peeked,
  parseRows,
  peekRows,
  type Row,
  requireSmallTree,
  tasksInvalid,
  withTwins,
} from '../../imports/index.ts';
import { SplitDataLoader } from '../loader/split-data-loader.ts';
import { splitItems } from '../split.ts';
import { withContentIds } from './content-id.ts';
import {
  type Columns,
  type Fields,
  guessColumns,
  isBlank,
  type NamedRow,
  nameColumns,
  QA_ITEM_HINT,
  QaItem,
  type QaItemInput,
} from './qa-columns.ts';
import { SimpleQAEnv } from './simple-qa-env.ts';
import { withGroups } from './split-by.ts';

/**
 * Questions from the project's task file, each in the split that its row names or that the ratio gives it. Also reads
 * data in SkillOpt's layout, named by `splitDir` or `dataPath`.
 */
export async function loadQaEnv(project: EnvProject): Promise<SkillEnv> {
  const { splits, drafts } = await loadSplits(project);
  const { maxCompletionTokens } = project.extras as { maxCompletionTokens?: number };
  return new SimpleQAEnv({
    trainItems: splits.train,
    valItems: splits.val,
    testItems: splits.test,
    ...defined({ maxCompletionTokens }),
    ...(project.judges ? { judges: project.judges } : {}),
    drafts,
  }) as unknown as SkillEnv;
}

async function loadSplits({ tasks, splitRatio, splitSeed, extras, ...data }: EnvProject) {
  if (tasks !== undefined) {
    const { rows, marks } = await loadTasks(tasks, data);
    const drafted = rows.flatMap(({ where }) => marks.get(where) ?? []);
    const drafts = { drafted: drafted.length, unreviewed: drafted.filter(({ isReviewed }) => !isReviewed).length };
    return { splits: splitItems(rows, { ratio: splitRatio, seed: splitSeed }), drafts };
  }
  const { splitMode, splitDir, dataPath } = data;
  if (splitDir === undefined && dataPath === undefined) {
    const hint = 'Name it, for example tasks: tasks.jsonl';
    throw new SkillError('CONFIG_INVALID', 'The qa environment needs tasks, and no file is named.', { hint });
  }
  const where = { ...(splitMode && { splitMode }), ...(splitDir && { splitDir }), ...(dataPath && { dataPath }) };
  const loader = new SplitDataLoader({ ...where, splitRatio, splitSeed });
  await loader.setup({ extras });
  const itemsOf = (split: string) => loader.getItems(split) as unknown as readonly QaItemInput[];
  return { splits: { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') } };
}

/** The tasks of a file, checked, each with its place and the split that its `split` field names, if any. */
export async function loadQaItems(path: string, options: TaskOptions = {}): Promise<readonly Row<QaItem>[]> {
  return (await loadTasks(path, options)).rows;
}

export type TaskOptions = {
  /** What the file calls what we call `question`, `answers` …, where it is none of the usual names. */
  readonly columns?: Columns | undefined;
  /** How tasks without a judge of their own are scored. Default: by whether the answer is one of `answers`. */
  readonly scoring?: Scoring | undefined;
  /** Column of the file: rows that say the same there are never drawn into different splits. */
  readonly splitBy?: string | undefined;
};

export type LoadedTasks = {
  /** Checked, each with its place and the split that the file names, if any. */
  readonly rows: readonly Row<QaItem>[];
  /** What is in the file and not among the tasks, and why. */
  readonly leftOut: readonly LeftOut[];
  /** Of tasks that a model drafted, by their place. */
  readonly marks: ReadonlyMap<string, DraftMarks>;
  readonly columns: FileColumns;
};

/** What a file of rows has beside its tasks. */
export type FileColumns = {
  /** Columns that nothing is read from, with their first text. */
  readonly unread: Readonly<Record<string, string>>;
  /** Columns that are read, and blank in every row. */
  readonly blank: readonly string[];
};

function columnsOf(raw: readonly Row[], named: readonly NamedRow[], splitBy: string | undefined): FileColumns {
  const used = new Set([splitBy]);
  for (const { columns = {} } of named) for (const column of Object.values(columns)) used.add(column);
  const filled = new Map<string, string>();
  const all = new Set<string>();
  for (const row of raw) {
    for (const [name, value] of Object.entries(fieldsOf(row))) {
      all.add(name);
      if (!isBlank(value) && !filled.has(name)) filled.set(name, textOf(value));
    }
  }
  const unread = [...filled].filter(([name]) => !used.has(name));
  return { unread: Object.fromEntries(unread), blank: [...all].filter((name) => used.has(name) && !filled.has(name)) };
}

/**
 * The tasks of a file, whatever it is: rows under the usual names of columns, evals of a skill, or a promptfoo config. A
 * task without an id gets one from its content; equal ones are one task. Throws `TASKS_INVALID` with the problems of bad rows.
 */
export async function loadTasks(path: string, { columns, ...options }: TaskOptions = {}): Promise<LoadedTasks> {
  const imported = await importTasks(path);
  const told: LeftOut[] = [...(imported?.leftOut ?? [])];
  const { leftOut, ...tasks } = imported
    ? tasksOf(imported.rows, options, IMPORT_HINT)
    : tasksOf(await loadItems(path, told), { columns, ...options });
  return { ...tasks, leftOut: [...told, ...leftOut] };
}

/** The tasks in rows, or in the first rows of a file. */
export function tasksOf(raw: readonly Row[], options: TaskOptions, hint = QA_ITEM_HINT): LoadedTasks {
  const { columns, scoring, splitBy } = options;
  // Columns first: the one that `columns:` names (TASKS_INVALID if no row has it), else our own name, else the first alias that is
  // filled; `input` beside an `instruction` is the context. A judge in a cell is read as JSON. Then ids: a row without one gets it
  // from its content, and a later one with that content is left out; one id twice is TASKS_INVALID. Then the project's judge.
  const named = nameColumns(raw, columns);
  const grouped = splitBy === undefined ? named : withGroups(named, raw, splitBy);
  const { rows, leftOut } = withContentIds(grouped, contentOf);
  const judged = scoring === undefined ? rows : withJudges(rows, scoring);
  // Checks all rows: one TASKS_INVALID names the first five kinds of problems, each with its first row; no row is used.
  // A line that cannot be parsed at all has ended the reading before.
  const parsed = parseRows(judged, { schema: QaItem, hint: hintFor(judged, raw, hint) });
  const keyOf = ({ question, context = '' }: QaItem) => `${askedKey(question)}\n${askedKey(context)}`;
  return { rows: withTwins(parsed, keyOf), leftOut, marks: marksOf(raw), columns: columnsOf(raw, named, splitBy) };
}

const IMPORT_HINT = 'What is imported must have a question and checks.';

const fieldsOf = ({ value }: Pick<Row, 'value'>): Fields => (isObject(value) ? value : {});

/** What makes a task the same as another. Neither its kind nor its split counts. */
function contentOf({ question, context, answers, judge }: Fields): unknown {
  const golds = Array.isArray(answers) ? answers : isBlank(answers) ? [] : [answers];
  return [question, isBlank(context) ? null : context, golds.map(textOf), judge ?? null];
}

const goldsOf = (answers: unknown): string[] =>
  (Array.isArray(answers) ? answers : [answers]).filter((gold) => !isBlank(gold)).map(textOf);

/** The project's way of scoring, for tasks that have none of their own. */
function withJudges(rows: readonly NamedRow[], scoring: Scoring): NamedRow[] {
  const problems: string[] = [];
  const judged = rows.map((row) => {
    const { judge, answers } = fieldsOf(row);
    const golds = goldsOf(answers);
    if (judge != null || (golds.length === 0 && needsAnswers(scoring))) return row;
    const filled = fillScoring(scoring, golds);
    if (filled.judge === undefined) problems.push(`${row.where}: ${filled.problem}`);
    return { ...row, value: { ...fieldsOf(row), judge: filled.judge } };
  });
  if (problems.length > 0)
    throw tasksInvalid(problems, 'Correct the answers, or give such tasks a judge of their own.');
  return judged;
}

/** For a file in which a column is missing, or has a name that nobody could guess: which there are, and how to say which is which. */
function hintFor(rows: readonly NamedRow[], raw: readonly Row[], hint: string): string {
  const isLacking = ({ columns }: NamedRow) =>
    columns !== undefined && (columns.question === undefined || (columns.answers ?? columns.judge) === undefined);
  if (!rows.some(isLacking)) return hint;
  const found = [...new Set(raw.flatMap((row) => Object.keys(fieldsOf(row))))]
    .slice(0, 20)
    .map((name) => JSON.stringify(name));
  return `${hint} The columns are ${found.join(', ')}. Say which is which: columns: { question: NAME, answers: NAME }`;
}

/** What a file is, seen from its head. */
export type PeekedTasks = {
  readonly format: 'rows' | Imported['format'];
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

/** The largest share of rows that may be no tasks. */
const MOST_ODD = 0.2;

/** The tasks in a file, or why it cannot be read; `undefined` for a file without tasks. Nothing in it is run. */
export async function peekTasks(path: string): Promise<PeekedTasks | { readonly problem: string } | undefined> {
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

function peekAt({ rows, total, atLeast }: Peeked, path: string): PeekedTasks | { problem: string } | undefined {
  const isUsual = areTasks(nameColumns(rows));
  const guessed = isUsual ? {} : guessColumns(rows, path);
  const named = nameColumns(rows, guessed);
  if (!areTasks(named)) return withoutAnswers(named);
  const { question, answers, taskType } = named[0]?.columns ?? {};
  const columns = defined({ question, answers, taskType });
  return { format: 'rows', count: total, atLeast, columns, guessed, answers: named.flatMap(answersOf) };
}

/** A file with columns of a task was meant to hold tasks. */
function withoutAnswers(rows: readonly NamedRow[]): { problem: string } | undefined {
  const { question, answers } = rows[0]?.columns ?? {};
  if (question === undefined || answers === undefined) return undefined;
  const blank = rows.filter((row) => isBlank(fieldsOf(row).answers)).length;
  return { problem: `${blank} of ${rows.length} rows have nothing in the column ${JSON.stringify(answers)}` };
}

function areTasks(rows: readonly NamedRow[]): boolean {
  const odd = rows.filter((row) => {
    const { question, answers, judge } = fieldsOf(row);
    return typeof question !== 'string' || isBlank(question) || (isBlank(answers) && isBlank(judge));
  });
  return rows.length > 0 && odd.length <= MOST_ODD * rows.length;
}

function answersOf(row: NamedRow): string[] {
  const { answers, judge } = fieldsOf(row);
  return isBlank(judge) ? goldsOf(answers) : [];
}

/** The marks of a task that a model drafted. */
export type DraftMarks = { readonly isReviewed: boolean; readonly isDoubtful: boolean };

/** The marks of a row; undefined where a person wrote it. They are no part of the task and change no score. */
export function draftMarksOf(row: unknown): DraftMarks | undefined {
  const { drafted, reviewed, doubtful } = (row ?? {}) as Readonly<Record<string, unknown>>;
  return isYes(drafted) ? { isReviewed: isYes(reviewed), isDoubtful: isYes(doubtful) } : undefined;
}

/** A CSV has words where JSON has values. */
const isYes = (value: unknown) => value === true || value === 'true';

/** The marks of drafted rows, by their place. */
function marksOf(rows: readonly Row[]): Map<string, DraftMarks> {
  const marks = rows.map(({ where, value }) => [where, draftMarksOf(value)] as const);
  return new Map(marks.filter((entry): entry is [string, DraftMarks] => entry[1] !== undefined));
}

/** The parts of a project that are an environment's business. */
export type EnvProject = {
  readonly directory: string;
  readonly tasks: string | undefined;
  /** Names of columns, where the task file has others than the usual ones. */
  readonly columns?: Readonly<Partial<Record<string, string>>> | undefined;
  /** How tasks without a judge of their own are scored. */
  readonly scoring?: Scoring | undefined;
  readonly splitRatio: string;
  readonly splitSeed: number;
  /** Column of the task file: rows that say the same there are never drawn into different splits. */
  readonly splitBy?: string | undefined;
  readonly splitMode?: 'split_dir' | 'ratio';
  readonly splitDir?: string;
  readonly dataPath?: string;
  /** Where code of models runs, for environments that need it. */
  readonly sandbox?: Sandbox;
  /** For tasks that bring a judge. Rules and exact matches need none. */
  readonly judges?: readonly TaskScorer[];
  readonly extras: Readonly<Record<string, unknown>>;
};
