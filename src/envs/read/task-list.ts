import type { SkillError } from '../../core/contracts/index.ts';
import { tasksInvalid } from './tasks-invalid.ts';

/** Where an object may keep its list of tasks, in the order of looking. */
export const LIST_KEYS = ['data', 'items'] as const;

/** Whether a file's `root` is itself a task: its values are then fields, not tasks. */
export function isTask(root: unknown): boolean {
  return typeof root === 'object' && root !== null && !Array.isArray(root) && 'id' in root;
}

/** Whether a file's `root` holds its tasks by name: `{ "q1": { … }, "q2": { … } }`. */
export function isTasksByName(root: unknown): root is Readonly<Record<string, object>> {
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return false;
  const values = Object.values(root);
  return (
    values.length > 0 && values.every((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  );
}

/** A task that names no id goes by its name. */
export const withName = (name: string, task: object): object => ({ id: name, ...task });

/** What `skillopt sleep harvest` writes. */
const isOfSleep = (root: unknown) =>
  /^skillopt_sleep\.tasks\./.test(String((root as { format?: unknown } | null)?.format));

/** The error for a file whose `root` is no list and holds none. */
export function notAList(root: unknown, path: string): SkillError {
  if (isOfSleep(root)) {
    const problem = `${path}: expected tasks with questions and answers, got tasks of skillopt sleep harvest, which no answer key scores`;
    return tasksInvalid([problem], 'They are for a night of sleep.');
  }
  const keys =
    typeof root === 'object' && root !== null ? Object.keys(root).map((key) => JSON.stringify(key)) : undefined;
  const came = keys ? `an object with the keys ${keys.join(', ')}` : JSON.stringify(root);
  const problem = `${path}: expected a list of tasks, or an object with a list under "data" or "items" or with tasks by name, got ${came}`;
  return tasksInvalid([problem], 'Make the file a list of tasks, or write one task per line into a .jsonl file.');
}
