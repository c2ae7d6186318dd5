import type { Item } from '../core/contracts/index.ts';
import {
  type DraftMarks,
  loadTasks,
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
  /** Whose tasks they are. Those of a module are read as questions. */
  readonly env?: string | undefined;
  readonly splitRatio?: string | undefined;
  readonly splitSeed?: number | undefined;
};

export type LoadedCheck = {
  readonly tasks: readonly CheckedTask[];
  readonly leftOut: readonly LeftOut[];
  readonly isDraftable: boolean;
  /** A task as its file has it, where that has a line for each; else as it was read. */
  readonly rowOf: (id: string) => TaskRow;
};

/** The tasks of a file as a run would divide them. */
export async function loadForCheck(path: string, options: LoadOptions): Promise<LoadedCheck> {
  const { rows, checked, leftOut, splits } = await readTasks(path, options);
  const splitOf = new Map(
    (['train', 'val', 'test'] as const).flatMap((split) => splits[split].map(({ id }) => [id, split] as const)),
  );
  const lines = isLineFile(path) ? await readTaskLines(path) : [];
  const placeOf = new Map(rows.map(({ value, where }) => [value.id, Number(where.match(/:(\d+)$/)?.[1] ?? 0)]));
  const itemOf = new Map(rows.map(({ value, split }) => [value.id, { ...value, ...(split ? { split } : {}) }]));
  const tasks = checked.flatMap((task) => {
    const split = splitOf.get(task.id);
    return split === undefined ? [] : [{ ...task, split }];
  });
  return {
    tasks,
    leftOut,
    isDraftable: !isForAgent(options.env),
    rowOf: (id) => lines[placeOf.get(id)! - 1]?.row ?? itemOf.get(id)!,
  };
}

const isForAgent = (env: string | undefined) => env === 'workspace' || env === 'trigger';

function readTasks(path: string, options: LoadOptions): Promise<ReadTasks> {
  const { env, columns, scoring, splitRatio, splitSeed = 42 } = options;
  const division: SplitOptions = { ...(splitRatio ? { ratio: splitRatio } : {}), seed: splitSeed };
  if (env === 'workspace') return workForCheck(path, division);
  if (env === 'trigger') return queriesForCheck(path, division);
  return questionsForCheck(path, division, { columns, scoring });
}

/** What an environment makes of a file or a folder of tasks. */
type ReadTasks = {
  readonly rows: readonly Row<Item>[];
  readonly checked: readonly Omit<CheckedTask, 'split'>[];
  readonly leftOut: readonly LeftOut[];
  /** As a run would divide them. */
  readonly splits: Splits<Item>;
};

/** Questions, as `env: qa` reads them. */
async function questionsForCheck(path: string, division: SplitOptions, options: TaskOptions) {
  const { rows, leftOut, marks } = await loadTasks(path, options);
  const checked = rows.map(({ value, where }) => checkedQuestion(value, marks.get(where)));
  return { rows, checked, leftOut, splits: splitItems(rows, division) };
}

function checkedQuestion({ id, question, context, answers, judge, taskType = '' }: QaItem, marks?: DraftMarks) {
  const { isReviewed = true, isDoubtful = false } = marks ?? {};
  const asked = context === undefined ? question : `${context}\n\n${question}`;
  const scoredBy = JSON.stringify([[...answers].sort(), judge ?? null]);
  return { id, question: asked, answers, scoredBy, taskType, isUnreviewed: !isReviewed, isDoubtful };
}

/** Work for an agent, as `env: workspace` reads it, with the folders that tasks name. */
async function workForCheck(path: string, division: SplitOptions) {
  const [{ loadWorkspaceTasks }, { knownTasks }] = await Promise.all([
    import('../runners/index.ts'),
    import('../runners/index.ts'),
  ]);
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

/** Queries with a label, as `env: trigger` reads them. */
async function queriesForCheck(path: string, division: SplitOptions) {
  const [{ divideQueries, readQueries }, { kindOf }] = await Promise.all([
    import('../runners/index.ts'),
    import('../runners/index.ts'),
  ]);
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

/** A task as the check sees it. */
export type CheckedTask = {
  readonly id: string;
  /** With what stands before the question. */
  readonly question: string;
  readonly answers: readonly string[];
  /** What there is to work with, as text: with something else, the same question is another task. */
  readonly material?: string;
  /** How it is scored, as text: two tasks with the same are scored alike. */
  readonly scoredBy: string;
  readonly taskType: string;
  readonly split: 'train' | 'val' | 'test';
  readonly isUnreviewed: boolean;
  readonly isDoubtful: boolean;
};

type FindingCode =
  | 'too-few'
  | 'contradictory'
  | 'duplicated'
  | 'near-duplicated'
  | 'leaks-between-splits'
  | 'answers-in-skill'
  | 'unbalanced'
  | 'left-out'
  | 'doubtful'
  | 'unreviewed'
  | 'too-easy'
  | 'too-hard'
  | 'too-noisy';

/** Something about the tasks that a person should know. */
export type Finding = {
  readonly code: FindingCode;
  /** `senseless`: training on these tasks tells nothing. */
  readonly level: 'senseless' | 'warning' | 'note';
  readonly what: string;
  /** Ids, or places in the file. */
  readonly tasks: readonly string[];
  readonly todo: string;
};

/** A finding if it is about anything. */
export function finding(
  code: FindingCode,
  tasks: readonly string[],
  says: { readonly what: string; readonly todo: string; readonly level?: Finding['level'] },
): Finding[] {
  const named = [...new Set(tasks)].sort();
  return named.length === 0
    ? []
    : [{ code, level: says.level ?? 'warning', what: says.what, tasks: named, todo: says.todo }];
}
