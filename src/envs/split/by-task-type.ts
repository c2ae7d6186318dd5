import { groupBy } from './group-by.ts';

type Typed = { readonly taskType?: unknown; readonly task_type?: unknown };

/** What kind of task an item or a result is: '' when it does not say. */
export function taskTypeOf(entry: object): string {
  const { taskType, task_type } = entry as Typed;
  const type = taskType ?? task_type;
  return type == null ? '' : String(type);
}

/** The entries of each task type, types in the order in which they first occur. */
export function byTaskType<T extends object>(entries: readonly T[]): Map<string, T[]> {
  return groupBy(entries, taskTypeOf);
}
