import { findLeaks } from '../core/guard/index.ts';
import {
  addObservations,
  type Calibration,
  calibrate,
  type Evidence,
  itemMean,
  noEvidence,
} from '../core/stats/index.ts';
import { groupBy, plural } from '../core/text/index.ts';
import { isTooFew, sizesText } from '../envs/index.ts';
import type { LeftOut } from '../imports/index.ts';
import type { CheckedTask } from './load-for-check.ts';
import { isSameTask, readAsked } from './task-file.ts';

type FindingCode =
  | ('too-few' | 'contradictory' | 'duplicated' | 'near-duplicated' | 'leaks-between-splits' | 'answers-in-skill')
  | ('unbalanced' | 'left-out' | 'doubtful' | 'unreviewed' | 'too-easy' | 'too-hard' | 'too-noisy');

export type Finding = {
  readonly code: FindingCode;
  /** `senseless`: training on these tasks proves nothing. */
  readonly level: 'senseless' | 'warning' | 'note';
  readonly what: string;
  /** Ids, or places in the file. */
  readonly tasks: readonly string[];
  readonly todo: string;
};

type CheckInput = {
  readonly tasks: readonly CheckedTask[];
  readonly leftOut?: readonly LeftOut[] | undefined;
  readonly skill?: string | undefined;
  /** Whether a model can draft such tasks. */
  readonly isDraftable?: boolean;
};

/** Finds problems of tasks without a model. The order of the tasks does not matter. */
export function checkTasks({ tasks, leftOut = [], skill = '', isDraftable = true }: CheckInput): Finding[] {
  const sorted = sortedById(tasks);
  return [
    ...tooFew(sorted, isDraftable),
    ...repeated(sorted),
    ...givenAway(sorted, skill),
    ...unbalanced(sorted, isDraftable),
    ...finding(
      'left-out',
      leftOut.map(({ where, what, why }) => `${where}: ${what} (${why})`),
      { what: `${leftOut.length} left out of the file`, todo: 'Nothing, if you can do without.', level: 'note' },
    ),
    ...marked(sorted),
  ];
}

/** A finding about these tasks. None if there are no tasks. */
function finding(
  code: FindingCode,
  tasks: readonly string[],
  { level = 'warning', what, todo }: Pick<Finding, 'what' | 'todo'> & { readonly level?: Finding['level'] },
): Finding[] {
  const ids = [...new Set(tasks)].sort();
  return ids.length === 0 ? [] : [{ code, level, what, tasks: ids, todo }];
}

const sortedById = (tasks: readonly CheckedTask[]) => tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Most real gains are smaller. */
const HOPED_GAIN = 0.25;

function tooFew(tasks: readonly CheckedTask[], isDraftable: boolean): Finding[] {
  const count = (split: CheckedTask['split']) => tasks.filter((task) => task.split === split).length;
  const sizes = { train: count('train'), val: count('val'), test: count('test') };
  const isSenseless = isTooFew(sizes);
  const gain = provableGain(sizes.test || sizes.val);
  if (!isSenseless && gain <= HOPED_GAIN) return [];
  const proof = `at best gains of ${(100 * gain).toFixed(0)} points can be proven`;
  return [
    {
      code: 'too-few',
      level: isSenseless ? 'senseless' : 'warning',
      what: `${sizesText(sizes)}; ${proof}`,
      tasks: [],
      todo: `Write more tasks${isDraftable ? ', or have them drafted: skillopt tasks draft' : ''}.`,
    },
  ];
}

/** The smallest gain that this many tasks can prove if no answer depends on chance. */
function provableGain(count: number): number {
  const passes = Array.from({ length: 2 * count }, (_, index) => ({ id: String(index >> 1), score: 1, count: 1 }));
  return calibrate(addObservations(noEvidence, passes)).smallestGain;
}

function repeated(tasks: readonly CheckedTask[]): Finding[] {
  const { same, contradictory, near, isCut } = findDuplicates(tasks);
  const clashes = contradictory.flat();
  const across = [...same, ...near].filter(({ kept, again }) => kept.split !== again.split);
  const words = isCut ? ' (so many tasks are compared word by word)' : '';
  return [
    ...finding('contradictory', idsOf(clashes), {
      what: `${clashes.length} tasks ask what another one asks, and want another answer`,
      todo: 'Correct the wrong ones, or leave all of them out.',
      level: clashes.length > tasks.length / 5 ? 'senseless' : 'warning',
    }),
    ...finding('duplicated', idsOf(same.map(({ again }) => again)), {
      what: `${plural(same.length, 'task is', 'tasks are')} there more than once${words}`,
      todo: 'Leave the copies out.',
    }),
    ...finding('near-duplicated', idsOf(near.map(({ again }) => again)), {
      what: `${plural(near.length, 'task asks', 'tasks ask')} in other words what another one asks`,
      todo: 'Leave them out.',
    }),
    ...finding('leaks-between-splits', idsOf(across.map(({ again }) => again)), {
      what: `${across.length} of these ${across.length === 1 ? 'stands in another split than its' : 'stand in another split than their'} twin: what is learned from is then measured on`,
      todo: 'Leave them out, or give both the same split.',
    }),
  ];
}

const idsOf = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);

function givenAway(tasks: readonly CheckedTask[], skill: string): Finding[] {
  if (skill.trim() === '') return [];
  const items = tasks.map(({ id, split, question, answers }) => ({ id, split, texts: [question], answers }));
  const { findings, memorised } = findLeaks({ edit: skill, items });
  const answers = [...findings, ...memorised].filter(({ kind }) => kind === 'answer');
  return finding('answers-in-skill', idsOf(answers), {
    what: `the skill or its files give the answers of ${plural(new Set(answers.map(({ id }) => id)).size, 'task')} away`,
    todo: 'Ask about something else: such tasks are right without any skill.',
  });
}

/** A larger kind decides nearly all that is measured. */
const MOST_OF_A_KIND = 0.6;

function unbalanced(tasks: readonly CheckedTask[], isDraftable: boolean): Finding[] {
  const kinds = [...new Set(tasks.map(({ taskType }) => taskType))].filter((kind) => kind !== '').sort();
  if (kinds.length < 2) return [];
  const idsIn = (some: readonly string[]) => idsOf(tasks.filter(({ taskType }) => some.includes(taskType)));
  const largest = kinds.filter((kind) => idsIn([kind]).length > MOST_OF_A_KIND * tasks.length);
  const taught = new Set(tasks.filter(({ split }) => split === 'train').map(({ taskType }) => taskType));
  const untaught = kinds.filter((kind) => !taught.has(kind));
  return [
    ...finding('unbalanced', idsIn(largest), {
      what: `${Math.round((100 * idsIn(largest).length) / tasks.length)} % of the tasks are of one kind: ${largest.join(', ')}`,
      todo: `Add tasks of the other kinds${isDraftable ? ', or have them drafted' : ''}.`,
      level: 'note',
    }),
    ...finding('unbalanced', idsIn(untaught), {
      what: `no task to learn from is of the kind ${untaught.join(', ')}`,
      todo: 'Add some, or give the tasks splits of your own.',
      level: 'note',
    }),
  ];
}

function marked(tasks: readonly CheckedTask[]): Finding[] {
  const doubtful = tasks.filter(({ isDoubtful, isUnreviewed }) => isDoubtful && isUnreviewed);
  const unreviewed = tasks.filter(({ isUnreviewed }) => isUnreviewed);
  const todo = 'Go through them: skillopt tasks review.';
  return [
    ...finding('doubtful', idsOf(doubtful), {
      what: `${plural(doubtful.length, 'drafted task has', 'drafted tasks have')} a reference that independent solutions do not confirm`,
      todo,
    }),
    ...finding('unreviewed', idsOf(unreviewed), {
      what: `${unreviewed.length} of ${plural(tasks.length, 'task')} ${unreviewed.length === 1 ? 'was' : 'were'} drafted by a model and reviewed by nobody`,
      todo,
      level: 'note',
    }),
  ];
}

export function withoutRepeated(tasks: readonly CheckedTask[]): ReadonlySet<string> {
  const { same, contradictory, near } = findDuplicates(tasks);
  const gone = new Set(idsOf([...[...same, ...near].map(({ again }) => again), ...contradictory.flat()]));
  return new Set(idsOf(tasks).filter((id) => !gone.has(id)));
}

type Pair = { readonly kept: CheckedTask; readonly again: CheckedTask };

/** The time to compare each with each grows with the square. */
const MOST_COMPARED = 3_000;

/** The task with the first id of a group is kept, so that the order of the file does not matter. */
function findDuplicates(tasks: readonly CheckedTask[]) {
  const sorted = sortedById(tasks).map((task) => ({ task, asked: readAsked(task.question) }));
  const groups = groupBy(sorted, ({ asked, task }) =>
    asked.key === '' ? task.id : JSON.stringify([asked.key, task.material]),
  );
  const contradictory = groups.filter((group) => new Set(group.map(({ task }) => task.scoredBy)).size > 1);
  const alike = groups.flatMap((group) => groupBy(group, ({ task }) => task.scoredBy));
  const firsts = alike.map((group) => group[0]!);
  const isCut = firsts.length > MOST_COMPARED;
  return {
    /** The same question, scored in the same way. */
    same: alike.flatMap(([first, ...others]) => others.map(({ task }): Pair => ({ kept: first!.task, again: task }))),
    contradictory: contradictory.map((group) => group.map(({ task }) => task)),
    near: isCut ? [] : nearPairs(firsts),
    isCut,
  };
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

const TOO_EASY = 0.95;
/** With more noise, chance decides which edits are kept. */
const TOO_NOISY = 0.08;

export function checkMeasured(
  evidence: Evidence,
  { score = 0, noiseFloor, flakiest, warning }: Calibration,
): Finding[] {
  const ids = [...evidence.keys()];
  const percent = `${(100 * score).toFixed(1)} %`;
  const isHopeless = ids.every((id) => itemMean(evidence.get(id)!) === 0);
  const isNoisy = noiseFloor > TOO_NOISY;
  return [
    ...finding('too-easy', score >= TOO_EASY ? ids : [], {
      what: `the target already passes ${percent}: nothing is left to learn`,
      todo: 'Write harder tasks, or use a smaller target.',
      level: 'senseless',
    }),
    ...finding('too-hard', isHopeless ? ids : [], {
      what: 'the target passes none of them: the scoring may be wrong, or the tasks are out of its reach',
      todo: 'Look at a few answers with skillopt eval, correct the scoring, or write easier tasks.',
      level: 'senseless',
    }),
    ...finding('too-noisy', isNoisy ? flakiest.map(({ id }) => id) : [], {
      what: `one pass is off by ±${(100 * noiseFloor).toFixed(1)} points by chance`,
      todo: warning ?? 'Use more tasks, or ask for answers that can be checked exactly.',
    }),
  ];
}
