import type { TaskRecord } from '../task-record.ts';

/** Other words around the same request, so that what is learned does not hang on one wording. */
const WRAPPERS: readonly ((intent: string) => string)[] = [
  (intent) => `${intent}\n\nThis is one of several requests of this kind; treat it like the others.`,
  (intent) => `Once more, for another case: ${intent}`,
  (intent) => `In a hurry: ${intent}`,
];

/** Invented variants of tasks to learn from, so many of each. None is ever held out. */
export const dreamTasks = (tasks: readonly TaskRecord[], factor: number): TaskRecord[] =>
  tasks
    .filter(({ split, origin }) => split === 'train' && origin === 'real')
    .flatMap((task) => Array.from({ length: Math.max(0, factor) }, (_, index) => dreamOf(task, index)));

const dreamOf = (task: TaskRecord, index: number): TaskRecord => ({
  ...task,
  id: `${task.id}_dream${index}`,
  intent: WRAPPERS[index % WRAPPERS.length]!(task.intent),
  split: 'train',
  origin: 'dream',
  derivedFrom: task.id,
});
