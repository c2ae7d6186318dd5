import { groupBy } from '../../core/text/index.ts';
import { isSameTask, readAsked } from '../same-task.ts';
import type { CheckedTask } from './finding.ts';

export type Duplicates = {
  /** Same question, scored alike: each with the one that stays. */
  readonly same: readonly Pair[];
  /** Same question, another answer. */
  readonly contradictory: readonly (readonly CheckedTask[])[];
  /** The same in other words, with the same answer. */
  readonly near: readonly Pair[];
  /** Too many tasks were compared word by word alone. */
  readonly isCut: boolean;
};

type Pair = { readonly kept: CheckedTask; readonly again: CheckedTask };

/** Comparing each with each takes time that grows with the square. */
const MOST_COMPARED = 3_000;

/** Of a group the task with the first id stays, so that the order of the file does not matter. */
export function findDuplicates(tasks: readonly CheckedTask[]): Duplicates {
  const sorted = tasks
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map((task) => ({ task, asked: readAsked(task.question) }));
  const groups = groupBy(sorted, ({ asked, task }) =>
    asked.key === '' ? task.id : JSON.stringify([asked.key, task.material]),
  );
  const contradictory = groups.filter((group) => new Set(group.map(({ task }) => task.scoredBy)).size > 1);
  const alike = groups.flatMap((group) => groupBy(group, ({ task }) => task.scoredBy));
  const same = alike.flatMap(([first, ...others]) =>
    others.map(({ task }): Pair => ({ kept: first!.task, again: task })),
  );
  const firsts = alike.map((group) => group[0]!);
  return {
    same,
    contradictory: contradictory.map((group) => group.map(({ task }) => task)),
    near: firsts.length > MOST_COMPARED ? [] : nearPairs(firsts),
    isCut: firsts.length > MOST_COMPARED,
  };
}

type Compared = { readonly task: CheckedTask; readonly asked: ReturnType<typeof readAsked> };

/** With the same answer only: two questions about one passage look alike and are not the same. */
function nearPairs(tasks: readonly Compared[]): Pair[] {
  const kept: Compared[] = [];
  return tasks.flatMap((one) => {
    const other = kept.find(
      ({ task, asked }) =>
        task.scoredBy === one.task.scoredBy &&
        task.material === one.task.material &&
        asked.key !== one.asked.key &&
        isSameTask(asked, one.asked),
    );
    if (!other) kept.push(one);
    return other ? [{ kept: other.task, again: one.task }] : [];
  });
}
