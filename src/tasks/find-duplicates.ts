import { groupBy } from '../core/text/index.ts';
import type { CheckedTask } from './load-for-check.ts';
import { isSameTask, readAsked } from './task-file.ts';

export const byId = (tasks: readonly CheckedTask[]) => tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));

export type Pair = { readonly kept: CheckedTask; readonly again: CheckedTask };

/** The time to compare each with each grows with the square. */
const MOST_COMPARED = 3_000;

/** The task with the first id of a group is kept, so that the order of the file does not matter. */
export function findDuplicates(tasks: readonly CheckedTask[]) {
  const sorted = byId(tasks).map((task) => ({ task, asked: readAsked(task.question) }));
  const groups = groupBy(sorted, ({ asked, task }) =>
    asked.key === '' ? task.id : JSON.stringify([asked.key, task.material]),
  );
  const [contradictory, agreeing] = parted(groups, (group) => hasClash(group.map(({ task }) => task)));
  const alike = [...contradictory.flatMap((group) => groupBy(group, ({ task }) => task.scoredBy)), ...agreeing];
  const firsts = alike.map((group) => group[0]!);
  const isCut = firsts.length > MOST_COMPARED;
  const tests = groupBy(
    firsts.map(({ task }) => task),
    ({ twin, id }) => twin ?? id,
  );
  return {
    /** The same question, scored in the same way. */
    same: alike.flatMap(([first, ...others]) => others.map(({ task }): Pair => ({ kept: first!.task, again: task }))),
    contradictory: contradictory.map((group) => group.map(({ task }) => task)),
    /** One test in several prompts. */
    worded: tests.filter((group) => group.length > 1 && !hasClash(group)),
    near: isCut ? [] : nearPairs(firsts),
    isCut,
  };
}

function parted<T>(items: readonly T[], isIt: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isIt), items.filter((item) => !isIt(item))];
}

/** More ways of scoring one question are not compared each with each. */
const MOST_WAYS = 30;

/** Whether what one task takes for right another takes for wrong. */
function hasClash(tasks: readonly CheckedTask[]): boolean {
  const ways = groupBy(tasks, ({ scoredBy }) => scoredBy).map(([first]) => first!);
  const some = ways.slice(0, MOST_WAYS);
  return some.some((one, index) => some.slice(index + 1).some((other) => areOpposed(one, other)));
}

function areOpposed(one: CheckedTask, other: CheckedTask): boolean {
  if (one.onlyRight && other.onlyRight) return !one.onlyRight.some((answer) => other.onlyRight!.includes(answer));
  // Two lists of checks may hold of one answer.
  return one.judge?.kind !== 'checks' && other.judge?.kind !== 'checks';
}

type Compared = { readonly task: CheckedTask; readonly asked: ReturnType<typeof readAsked> };

/** Only with the same answer: two questions about one passage look alike, but are different tasks. */
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
