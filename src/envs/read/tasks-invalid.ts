import { SkillError } from '../../core/contracts/index.ts';

const MOST_SHOWN = 5;

/** One `TASKS_INVALID` for any number of problems: a line for each of the first five, a count of the rest. */
export function tasksInvalid(problems: readonly string[], hint: string, cause?: unknown): SkillError {
  const rest = problems.length - MOST_SHOWN;
  const lines = [...problems.slice(0, MOST_SHOWN), ...(rest > 0 ? [`… and ${rest} more`] : [])];
  return new SkillError('TASKS_INVALID', lines.join('\n'), { hint, cause });
}

/** The error for a file that is not there, or that the system does not let us read. */
export function unreadable(path: string, error: NodeJS.ErrnoException): SkillError {
  const problem = error.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${error.message}`;
  return tasksInvalid([`${path} ${problem}`], 'Check the path of the task file.', error);
}
