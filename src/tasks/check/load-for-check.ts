import type { LeftOut, SplitOptions, TaskOptions } from '../../envs/index.ts';
import { isLineFile, readTaskLines } from '../task-file.ts';
import type { TaskRow } from '../task-row.ts';
import type { CheckedTask } from './finding.ts';
import { queriesForCheck, questionsForCheck, type ReadTasks, workForCheck } from './read-for-check.ts';

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
