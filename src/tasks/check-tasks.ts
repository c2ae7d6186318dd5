import { findLeaks } from '../core/guard/index.ts';
import {
  addObservations,
  type Calibration,
  calibrate,
  type Evidence,
  itemMean,
  noEvidence,
} from '../core/stats/index.ts';
import { plural } from '../core/text/index.ts';
import { type FileColumns, isTooFew, sizesText } from '../envs/index.ts';
import type { LeftOut } from '../imports/index.ts';
import { checkContent, checkReading } from './check-content.ts';
import { byId, findDuplicates, type Pair } from './find-duplicates.ts';
import { type Finding, finding, MOST_FAULTY } from './finding.ts';
import type { CheckedTask } from './load-for-check.ts';

type CheckInput = {
  readonly tasks: readonly CheckedTask[];
  readonly leftOut?: readonly LeftOut[] | undefined;
  readonly columns?: FileColumns | undefined;
  readonly skill?: string | undefined;
  /** Whether a model can draft such tasks. */
  readonly isDraftable?: boolean;
  /** Whether a model is named that judges. */
  readonly hasJudge?: boolean;
};

/** Finds problems of tasks without a model. The order of the tasks does not matter. */
export function checkTasks(input: CheckInput): Finding[] {
  const { tasks, leftOut = [], columns, skill = '', isDraftable = true, hasJudge = true } = input;
  const sorted = byId(tasks);
  const findings = [
    ...checkReading(sorted, leftOut),
    ...checkContent(tasks, { columns, hasJudge }),
    ...tooFew(sorted, isDraftable),
    ...repeated(sorted, Object.keys(columns?.unread ?? {})),
    ...copied(sorted, leftOut),
    ...givenAway(sorted, skill),
    ...unbalanced(sorted, isDraftable),
    ...marked(sorted),
  ];
  return tasks.length < LEAST_MEASURED ? findings.map(asSenseless) : findings;
}

/** So few prove nothing, whatever is wrong with them, and the verdict says so. */
const LEAST_MEASURED = 10;
const asSenseless = (found: Finding): Finding => (found.level === 'untrue' ? { ...found, level: 'senseless' } : found);

/** Most real gains are smaller. */
const HOPED_GAIN = 0.25;

function tooFew(tasks: readonly CheckedTask[], isDraftable: boolean): Finding[] {
  const count = (split: CheckedTask['split']) => tasks.filter((task) => task.split === split).length;
  const sizes = { train: count('train'), val: count('val'), test: count('test') };
  const isSenseless = isTooFew(sizes);
  const gain = provableGain(sizes.test || sizes.val);
  if (!isSenseless && gain <= HOPED_GAIN) return [];
  const proof = gain < 1 ? `at best gains of ${(100 * gain).toFixed(0)} points can be proven` : 'nothing can be proven';
  return [
    {
      code: tasks.length < 5 ? 'hardly-any' : 'too-few',
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

function repeated(tasks: readonly CheckedTask[], unread: readonly string[]): Finding[] {
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

/** Copies that stood in another split. They are left out, and little may be left there. */
function copied(tasks: readonly CheckedTask[], leftOut: readonly LeftOut[]): Finding[] {
  const copies = leftOut.filter(({ leaksInto }) => leaksInto !== undefined);
  const measured = tasks.filter(({ split }) => split !== 'train').length + copies.length;
  return finding(
    'leaks-between-splits',
    copies.map(({ where }) => where),
    {
      what: `${plural(copies.length, 'task')} of ${[...new Set(copies.map(({ leaksInto }) => leaksInto))].join(' and ')} stood in another split too`,
      todo: 'Give that split tasks of its own.',
      level: copies.length > MOST_FAULTY * measured ? 'untrue' : 'warning',
    },
  );
}

/** Whether a part that measures consists of what was learned from. */
const isTaught = (same: readonly Pair[], tasks: readonly CheckedTask[]): boolean =>
  (['val', 'test'] as const).some((split) => {
    const leaked = same.filter(({ kept, again }) => {
      const splits = [kept.split, again.split];
      return splits.includes('train') && splits.includes(split);
    });
    return leaked.length > MOST_FAULTY * tasks.filter((task) => task.split === split).length;
  });

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
