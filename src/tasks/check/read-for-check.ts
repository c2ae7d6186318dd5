import type { Item } from '../../core/contracts/index.ts';
import {
  type DraftMarks,
  type LeftOut,
  loadTasks,
  type QaItem,
  type Row,
  type SplitOptions,
  type Splits,
  splitItems,
  type TaskOptions,
} from '../../envs/index.ts';
import type { KnownTask } from '../../runners/index.ts';
import type { CheckedTask } from './finding.ts';

/** What an environment makes of a file or a folder of tasks. */
export type ReadTasks = {
  readonly rows: readonly Row<Item>[];
  readonly checked: readonly Omit<CheckedTask, 'split'>[];
  readonly leftOut: readonly LeftOut[];
  /** As a run would divide them. */
  readonly splits: Splits<Item>;
};

/** Questions, as `env: qa` reads them. */
export async function questionsForCheck(path: string, division: SplitOptions, options: TaskOptions) {
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
export async function workForCheck(path: string, division: SplitOptions) {
  const [{ loadWorkspaceTasks }, { knownTasks }] = await Promise.all([
    import('../../runners/index.ts'),
    import('../../runners/index.ts'),
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
export async function queriesForCheck(path: string, division: SplitOptions) {
  const [{ divideQueries, readQueries }, { kindOf }] = await Promise.all([
    import('../../runners/index.ts'),
    import('../../runners/index.ts'),
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
