import { askedKey, groupBy, plural } from '../core/text/index.ts';
import { type Finding, finding, MOST_FAULTY } from './finding.ts';
import type { CheckedTask } from './load-for-check.ts';
import { isSameTask, readAsked } from './task-file.ts';

export const byId = (tasks: readonly CheckedTask[]) => tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Tasks that ask what another one asks. `unread` are columns of their file that nothing reads. */
export function findRepeated(tasks: readonly CheckedTask[], unread: readonly string[]): Finding[] {
  const { same, contradictory, near, worded, isCut } = findDuplicates(tasks);
  const clashes = contradictory.flat();
  const across = [...same, ...near].filter(({ kept, again }) => kept.split !== again.split);
  // Twins are in one split: two of them leave a split empty.
  const level = new Set(tasks.map(({ twin, id }) => twin ?? id)).size < 3 ? 'untrue' : 'warning';
  const words = isCut ? ' (so many tasks are compared word by word)' : '';
  const column =
    unread.length === 0 ? '' : ` If a column tells them apart, name it: columns: { context: ${unread[0]} }.`;
  return [
    ...finding('contradictory', idsOf(clashes), {
      what: `${clashes.length} tasks ask what another one asks, and want another answer`,
      todo: `Correct the wrong ones, or leave all of them out.${column}`,
      level: levelOfClashes(clashes.length / tasks.length),
    }),
    ...finding('duplicated', idsOf(same.map(({ again }) => again)), {
      what: `${plural(same.length, 'task is', 'tasks are')} there more than once${words}`,
      todo: 'Leave the copies out. Until then all copies are in one split.',
      level,
    }),
    ...finding('duplicated', idsOf(worded.flat()), {
      what: `${worded.flat().length} tasks are ${plural(worded.length, 'test')} with several prompts each`,
      todo: 'Keep one prompt. Until then all tasks of a test are in one split.',
      level,
    }),
    ...finding('near-duplicated', idsOf(near.map(({ again }) => again)), {
      what: `${plural(near.length, 'task asks', 'tasks ask')} in other words what another one asks`,
      todo: 'Leave them out.',
    }),
    ...finding('leaks-between-splits', idsOf(across.map(({ again }) => again)), {
      what: `${across.length} of these ${across.length === 1 ? 'stands in another split than its' : 'stand in another split than their'} twin: what is learned from is then measured on`,
      todo: 'Leave them out, or give both the same split.',
      level: isTaught(same, tasks) ? 'untrue' : 'warning',
    }),
  ];
}

const levelOfClashes = (share: number) => (share > 0.5 ? 'untrue' : share > MOST_FAULTY ? 'senseless' : 'warning');

/** Whether a part that measures consists of what was learned from. */
const isTaught = (same: readonly Pair[], tasks: readonly CheckedTask[]): boolean =>
  (['val', 'test'] as const).some((split) => {
    const leaked = same.filter(({ kept, again }) => {
      const splits = [kept.split, again.split];
      return splits.includes('train') && splits.includes(split);
    });
    return leaked.length > MOST_FAULTY * tasks.filter((task) => task.split === split).length;
  });

/** The ids of the tasks that stay when copies and contradictions are left out. */
export function withoutRepeated(tasks: readonly CheckedTask[]): ReadonlySet<string> {
  const { same, contradictory, near } = findDuplicates(tasks);
  const gone = new Set(idsOf([...[...same, ...near].map(({ again }) => again), ...contradictory.flat()]));
  return new Set(idsOf(tasks).filter((id) => !gone.has(id)));
}

const idsOf = (tasks: readonly CheckedTask[]) => tasks.map(({ id }) => id);

type Pair = { readonly kept: CheckedTask; readonly again: CheckedTask };

/** The time to compare each with each grows with the square. */
const MOST_COMPARED = 3_000;

/** The task with the first id of a group is kept, so that the order of the file does not matter. */
function findDuplicates(tasks: readonly CheckedTask[]) {
  const groups = groupBy(byId(tasks), ({ id, question, material }) => {
    const key = askedKey(question);
    return key === '' ? `\n${id}` : `${key}\n${material ?? ''}`; // no key has a line break
  });
  const [contradictory, agreeing] = parted(groups, hasClash);
  const alike = [...contradictory.flatMap((group) => groupBy(group, ({ scoredBy }) => scoredBy)), ...agreeing];
  const firsts = alike.map((group) => group[0]!);
  const isCut = firsts.length > MOST_COMPARED;
  const tests = groupBy(firsts, ({ twin, id }) => twin ?? id);
  return {
    /** The same question, scored in the same way. */
    same: alike.flatMap(([first, ...others]) => others.map((again): Pair => ({ kept: first!, again }))),
    contradictory,
    /** One test in several prompts. */
    worded: tests.filter((group) => group.length > 1 && !hasClash(group)),
    near: isCut ? [] : nearPairs(firsts),
    isCut,
  };
}

function parted<T>(items: readonly T[], isIt: (item: T) => boolean): [T[], T[]] {
  const [yes, no]: [T[], T[]] = [[], []];
  for (const item of items) (isIt(item) ? yes : no).push(item);
  return [yes, no];
}

/** More ways of scoring one question are not compared each with each. */
const MOST_WAYS = 30;

/** Whether what one task takes for right another takes for wrong. */
function hasClash(tasks: readonly CheckedTask[]): boolean {
  if (tasks.length < 2) return false; // nearly always, and there may be a hundred thousand
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
function nearPairs(tasks: readonly CheckedTask[]): Pair[] {
  const kept: Compared[] = [];
  return tasks.flatMap((again) => {
    const one: Compared = { task: again, asked: readAsked(again.question) };
    const other = kept.find(
      ({ task, asked }) =>
        task.scoredBy === one.task.scoredBy &&
        task.material === one.task.material &&
        asked.key !== one.asked.key &&
        isSameTask(asked, one.asked),
    );
    if (!other) kept.push(one);
    return other ? [{ kept: other.task, again }] : [];
  });
}
