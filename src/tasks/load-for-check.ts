import type { Item } from '../core/contracts/index.ts';
import type { TaskJudge } from '../core/judge/index.ts';
import { defined, textOf } from '../core/text/index.ts';
import {
  type DraftMarks,
  drawnTogether,
  type FileColumns,
  loadTasks,
  normalizeAnswer,
  type QaItem,
  type SplitOptions,
  type Splits,
  splitItems,
  type TaskOptions,
} from '../envs/index.ts';
import type { LeftOut, Row } from '../imports/index.ts';
import type { KnownTask } from '../runners/index.ts';
import { isLineFile, readTaskLines, type TaskRow } from './task-file.ts';

type LoadOptions = TaskOptions & {
  readonly env?: string | undefined;
  readonly splitRatio?: string | undefined;
  readonly splitSeed?: number | undefined;
};

export type LoadedCheck = {
  readonly tasks: readonly CheckedTask[];
  readonly leftOut: readonly LeftOut[];
  readonly columns?: FileColumns | undefined;
  /** Into how many groups `splitBy` puts them, if it does. */
  readonly groups?: number | undefined;
  readonly isDraftable: boolean;
  /** The tasks with these ids, each as it is in the file if the file has a line for each; else as it was read. */
  readonly rowsOf: (ids: ReadonlySet<string>) => Promise<TaskRow[]>;
};

export async function loadForCheck(path: string, options: LoadOptions): Promise<LoadedCheck> {
  const { env } = options;
  const { checked, leftOut, columns, groups, splits } = await readTasks(path, options);
  const splitOf = new Map(
    (['train', 'val', 'test'] as const).flatMap((split) => splits[split].map(({ id }) => [id, split] as const)),
  );
  const tasks = checked.flatMap((task) => {
    const split = splitOf.get(task.id);
    return split === undefined ? [] : [{ ...task, split }];
  });
  return {
    tasks,
    leftOut,
    columns,
    groups,
    isDraftable: env !== 'workspace' && env !== 'trigger',
    rowsOf: (ids) => rowsOf(ids, path, options),
  };
}

/** Reads the file again: most callers never ask, and a large file would be kept for them. */
async function rowsOf(ids: ReadonlySet<string>, path: string, options: LoadOptions): Promise<TaskRow[]> {
  const { rows } = await readTasks(path, options);
  const lines = isLineFile(path) ? await readTaskLines(path) : [];
  const lineOf = (where: string) => lines[Number(where.match(/:(\d+)$/)?.[1] ?? 0) - 1]?.row;
  const kept = rows.filter(({ value }) => ids.has(value.id));
  const { splitBy = '' } = options;
  return kept.map(({ value, split, group, where }) => {
    const names = group?.map((name) => name.replace(/^in /, ''));
    return lineOf(where) ?? { ...value, ...defined({ split, [splitBy]: names }) };
  });
}

function readTasks(path: string, options: LoadOptions): Promise<ReadTasks> {
  const { env, columns, scoring, splitBy, splitRatio, splitSeed = 42 } = options;
  const division: SplitOptions = { ...(splitRatio ? { ratio: splitRatio } : {}), seed: splitSeed };
  if (env === 'workspace') return workForCheck(path, division);
  if (env === 'trigger') return queriesForCheck(path, division);
  return questionsForCheck(path, division, { columns, scoring, splitBy });
}

type ReadTasks = {
  readonly rows: readonly Row<Item>[];
  readonly checked: readonly Omit<CheckedTask, 'split'>[];
  readonly leftOut: readonly LeftOut[];
  readonly columns?: FileColumns;
  readonly groups?: number | undefined;
  readonly splits: Splits<Item>;
};

async function questionsForCheck(path: string, division: SplitOptions, options: TaskOptions) {
  const { rows, leftOut, marks, columns } = await loadTasks(path, options);
  const checked = rows.map((row) => checkedQuestion(row, marks.get(row.where)));
  const groups = rows.some(({ group }) => group !== undefined) ? drawnTogether(rows).length : undefined;
  return { rows, checked, leftOut, columns, groups, splits: splitItems(rows, division) };
}

function checkedQuestion({ value, twin }: Row<QaItem>, marks?: DraftMarks) {
  const { id, question, context, answers, judge, taskType = '' } = value;
  const { isReviewed = true, isDoubtful = false } = marks ?? {};
  const asked = context === undefined ? question : `${context}\n\n${question}`;
  const scoredBy = JSON.stringify([[...answers].sort(), judge ?? null]);
  const about = { isUnreviewed: !isReviewed, isDoubtful, ...defined({ twin, judge, onlyRight: onlyRight(value) }) };
  return { id, question: asked, answers, scoredBy, taskType, ...about };
}

/** The answers beside which all others are wrong, in the form in which they are compared, if that is known. */
function onlyRight({ answers, judge }: QaItem): readonly string[] | undefined {
  if (judge === undefined) return answers.map(normalizeAnswer);
  if (judge.kind !== 'checks' || judge.threshold !== undefined) return undefined;
  const wanted = judge.checks.flatMap((check) => (check.type === 'equals' && check.not !== true ? [check.value] : []));
  return wanted.length === 1 ? [textOf(wanted[0])] : undefined;
}

async function workForCheck(path: string, division: SplitOptions) {
  const { loadWorkspaceTasks, knownTasks } = await import('../runners/index.ts');
  const { rows, folder, leftOut } = await loadWorkspaceTasks(path);
  const known = await Promise.all(rows.map(({ value }) => value).map(knownTasks(folder)));
  return { rows, checked: known.map(checkedWork), leftOut, splits: splitItems(rows, division) };
}

function checkedWork({ id, prompt, taskType = '', ...task }: KnownTask) {
  const material = JSON.stringify([task.files, task.binaries, task.from, task.setup, task.contents]);
  const scoredBy = JSON.stringify([task.verify, task.assertions, task.rubric]);
  return { id, question: prompt, answers: [], material, scoredBy, taskType, ...BY_A_PERSON };
}

const BY_A_PERSON = { isUnreviewed: false, isDoubtful: false };

async function queriesForCheck(path: string, division: SplitOptions) {
  const { divideQueries, readQueries, kindOf } = await import('../runners/index.ts');
  const { rows, leftOut } = await readQueries(path);
  const splits = divideQueries(rows, division);
  const used = new Set([...splits.train, ...splits.val, ...splits.test].map(({ id }) => id));
  const unused = rows.filter(({ value }) => !used.has(value.id)).map(({ where }) => ({ where, ...UNEQUAL }));
  const checked = rows.map(({ value: { id, query: question, shouldTrigger } }) => {
    const kind = kindOf({ shouldTrigger });
    return { id, question, answers: [], scoredBy: kind, taskType: kind, ...BY_A_PERSON };
  });
  return { rows, checked, leftOut: [...leftOut, ...unused], splits };
}

const UNEQUAL = { what: 'a query', why: 'as many are measured that should load the skill as that should not' };

export type CheckedTask = {
  readonly id: string;
  readonly question: string;
  readonly answers: readonly string[];
  /** The files of the task, as text. With other files, the same question is another task. */
  readonly material?: string;
  /** The scoring, as text. Tasks with the same text are scored in the same way. */
  readonly scoredBy: string;
  readonly taskType: string;
  /** The same for tasks that ask the same, and for one test with several prompts. */
  readonly twin?: string;
  readonly judge?: TaskJudge;
  /** Answers beside which all others are wrong, if that is known. */
  readonly onlyRight?: readonly string[];
  readonly split: 'train' | 'val' | 'test';
  readonly isUnreviewed: boolean;
  readonly isDoubtful: boolean;
};
