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
import { type FileColumns, isTooFew, sizesText } from '../envs/index.ts';
import type { LeftOut } from '../imports/index.ts';
import { nameSome } from '../report/index.ts';
import { checkContent, checkReading } from './check-content.ts';
import { byId, findRepeated } from './find-repeated.ts';
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
    ...findRepeated(sorted, Object.keys(columns?.unread ?? {})),
    ...copied(sorted, leftOut),
    ...givenAway(sorted, skill),
    ...unbalanced(sorted, isDraftable),
    ...marked(sorted),
  ];
  return tasks.length < LEAST_MEASURED ? findings.map(asSenseless) : findings;
}

/** Fewer tasks prove nothing, whatever else is wrong with them, and the verdict says so. */
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
const MOST_NAMED = 10;

function unbalanced(tasks: readonly CheckedTask[], isDraftable: boolean): Finding[] {
  const kinds = groupBy(tasks, ({ taskType }) => taskType).filter(([first]) => first!.taskType !== '');
  if (kinds.length < 2) return [];
  const namesOf = (some: readonly CheckedTask[][]) => some.map(([first]) => first!.taskType).sort();
  const largest = kinds.filter(({ length }) => length > MOST_OF_A_KIND * tasks.length);
  const untaught = kinds.filter((kind) => kind.every(({ split }) => split !== 'train'));
  return [
    ...finding('unbalanced', idsOf(largest.flat()), {
      what: `${Math.round((100 * largest.flat().length) / tasks.length)} % of the tasks are of one kind: ${namesOf(largest).join(', ')}`,
      todo: `Add tasks of the other kinds${isDraftable ? ', or have them drafted' : ''}.`,
      level: 'note',
    }),
    ...finding('unbalanced', idsOf(untaught.flat()), {
      what: `no task to learn from is of the kind ${nameSome(namesOf(untaught), MOST_NAMED)}`,
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
