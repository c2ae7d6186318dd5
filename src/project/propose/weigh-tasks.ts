import { SkillError } from '../../core/errors.ts';
import { loadTasks, type TaskOptions } from '../../envs/qa/load-tasks.ts';
import { asksModel } from '../../envs/qa/task-judges.ts';

/** What a run would have of a task file. */
export type WeighedTasks = {
  readonly count: number;
  readonly leftOut: number;
  /** Whether a model has to score some of the answers. */
  readonly asksJudge: boolean;
  /** Why it cannot be used as it is. */
  readonly problem?: string;
};

/** Reads a whole task file as a run would. What is wrong with it is part of the answer. */
export async function weighTasks(path: string, options: TaskOptions): Promise<WeighedTasks> {
  try {
    const { rows, leftOut } = await loadTasks(path, options);
    const asksJudge = rows.some(({ value }) => asksModel(value));
    return { count: rows.length, leftOut: leftOut.length, asksJudge };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { count: 0, leftOut: 0, asksJudge: false, problem: error.message };
  }
}
