import { SkillError } from '../../core/errors.ts';

const MOST_SHOWN = 5;

/** One `TASKS_INVALID` for any number of problems: a line for each of the first five, a count of the rest. */
export function tasksInvalid(problems: readonly string[], hint: string, cause?: unknown): SkillError {
  const rest = problems.length - MOST_SHOWN;
  const lines = [...problems.slice(0, MOST_SHOWN), ...(rest > 0 ? [`… and ${rest} more`] : [])];
  return new SkillError('TASKS_INVALID', lines.join('\n'), { hint, cause });
}
