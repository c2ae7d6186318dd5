import type { LeftOut } from '../../envs/import/left-out.ts';
import { loadTasks, type TaskOptions } from '../../envs/qa/load-tasks.ts';
import type { QaItem } from '../../envs/qa/qa-item.ts';
import { splitItems } from '../../envs/split/split-items.ts';
import { isLineFile, readTaskLines } from '../task-file.ts';
import type { TaskRow } from '../task-row.ts';
import type { CheckedTask } from './finding.ts';

type LoadOptions = TaskOptions & { readonly splitRatio?: string | undefined; readonly splitSeed?: number | undefined };

export type LoadedCheck = {
  readonly tasks: readonly CheckedTask[];
  readonly leftOut: readonly LeftOut[];
  /** A task as its file has it, where that has a line for each; else as it was read. */
  readonly rowOf: (id: string) => TaskRow;
};

/** The tasks of a file as a run would divide them. */
export async function loadForCheck(path: string, options: LoadOptions): Promise<LoadedCheck> {
  const { columns, scoring, splitRatio, splitSeed = 42 } = options;
  const { rows, leftOut, marks } = await loadTasks(path, { columns, scoring });
  const splits = splitItems(rows, { ...(splitRatio ? { ratio: splitRatio } : {}), seed: splitSeed });
  const splitOf = new Map(
    (['train', 'val', 'test'] as const).flatMap((split) => splits[split].map(({ id }) => [id, split] as const)),
  );
  const lines = isLineFile(path) ? await readTaskLines(path) : [];
  const placeOf = new Map(rows.map(({ value, where }) => [value.id, Number(where.match(/:(\d+)$/)?.[1] ?? 0)]));
  const itemOf = new Map(rows.map(({ value, split }) => [value.id, { ...value, ...(split ? { split } : {}) }]));
  const tasks = rows.map(({ value, where }) => {
    const { isReviewed = true, isDoubtful = false } = marks.get(where) ?? {};
    return { ...toChecked(value), split: splitOf.get(value.id)!, isUnreviewed: !isReviewed, isDoubtful };
  });
  return { tasks, leftOut, rowOf: (id) => lines[placeOf.get(id)! - 1]?.row ?? itemOf.get(id)! };
}

function toChecked({ id, question, context, answers, judge, taskType = '' }: QaItem) {
  const asked = context === undefined ? question : `${context}\n\n${question}`;
  return { id, question: asked, answers, scoredBy: JSON.stringify([[...answers].sort(), judge ?? null]), taskType };
}
