import { stat } from 'node:fs/promises';
import { SkillError } from '../../core/contracts/index.ts';
import {
  asksModel,
  isTree,
  type LoadedTasks,
  loadTasks,
  peekRows,
  type SplitSizes,
  sizesOf,
  type TaskOptions,
  tasksOf,
} from '../../envs/index.ts';

/** What a run would have of a task file. */
export type WeighedTasks = {
  readonly count: number;
  readonly leftOut: number;
  /** Whether a model has to score some of the answers. */
  readonly asksJudge: boolean;
  /** How many there are to learn from, to choose by, and for the proof. */
  readonly sizes: SplitSizes;
  /** Of a file that is too large to be read for a look: its size. `count` is what was seen. */
  readonly largeBytes?: number;
  /** Why it cannot be used as it is. */
  readonly problem?: string;
};

/** Larger files are weighed by their first rows: a run may take its time, a look may not. */
const MAX_BYTES = 2_000_000;
const NOTHING = { count: 0, leftOut: 0, asksJudge: false, sizes: { train: 0, val: 0, test: 0 } };

/** Reads a task file as a run would, or the head of a large one. What is wrong with it is part of the answer. */
export async function weighTasks(path: string, options: TaskOptions): Promise<WeighedTasks> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_BYTES || isTree(path)) return weigh(await loadTasks(path, options));
    const { rows, atLeast } = await peekRows(path);
    return { ...weigh(tasksOf(rows, options)), count: atLeast, largeBytes: size };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { ...NOTHING, problem: error.message };
  }
}

function weigh({ rows, leftOut }: LoadedTasks): WeighedTasks {
  const asksJudge = rows.some(({ value }) => asksModel(value));
  return { count: rows.length, leftOut: leftOut.length, asksJudge, sizes: sizesOf(rows) };
}
