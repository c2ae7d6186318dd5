import { findLeaks } from '../../core/guard/index.ts';
import { addObservations, calibrate, noEvidence } from '../../core/stats/index.ts';
import { plural } from '../../core/text/index.ts';
import { isTooFew, type LeftOut, sizesText } from '../../envs/index.ts';
import { findDuplicates } from './duplicates.ts';
import { type CheckedTask, type Finding, finding } from './finding.ts';

export type CheckInput = {
  readonly tasks: readonly CheckedTask[];
  /** What of the file is not among them. */
  readonly leftOut?: readonly LeftOut[] | undefined;
  /** The skill with its files, if there is one. */
  readonly skill?: string | undefined;
  /** Whether a model can draft such tasks. */
  readonly isDraftable?: boolean;
};

/** What is wrong with tasks, without asking anybody. The order of the tasks does not matter. */
export function checkTasks({ tasks, leftOut = [], skill = '', isDraftable = true }: CheckInput): Finding[] {
  const sorted = tasks.toSorted((a, b) => (a.id < b.id ? -1 : 1));
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

/** Smaller gains are what people hope for. */
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

/** The smallest gain that so many tasks can prove when no answer depends on luck. */
function provableGain(count: number): number {
  const passes = Array.from({ length: 2 * count }, (_, index) => ({ id: String(index >> 1), score: 1, count: 1 }));
  return calibrate(addObservations(noEvidence, passes)).smallestGain;
}

function repeated(tasks: readonly CheckedTask[]): Finding[] {
  const { same, contradictory, near, isCut } = findDuplicates(tasks);
  const clashes = contradictory.flat();
  const isSenseless = clashes.length > tasks.length / 5;
  const pairs = [...same, ...near];
  const across = pairs.filter(({ kept, again }) => kept.split !== again.split);
  const words = isCut ? ' (so many tasks are compared word by word)' : '';
  return [
    ...finding('contradictory', idsOf(clashes), {
      what: `${clashes.length} tasks ask what another one asks, and want another answer`,
      todo: 'Correct the wrong ones, or leave all of them out.',
      level: isSenseless ? 'senseless' : 'warning',
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

/** With several kinds, one that is more than this is nearly all that is measured. */
const MOST_OF_A_KIND = 0.6;

function unbalanced(tasks: readonly CheckedTask[], isDraftable: boolean): Finding[] {
  const kinds = [...new Set(tasks.map(({ taskType }) => taskType))].filter((kind) => kind !== '').sort();
  if (kinds.length < 2) return [];
  const of = (kind: string) => tasks.filter(({ taskType }) => taskType === kind);
  const largest = kinds.filter((kind) => of(kind).length > MOST_OF_A_KIND * tasks.length);
  const untaught = kinds.filter((kind) => of(kind).every(({ split }) => split !== 'train'));
  return [
    ...finding(
      'unbalanced',
      largest.flatMap((kind) => idsOf(of(kind))),
      {
        what: `${Math.round((100 * of(largest[0] ?? '').length) / tasks.length)} % of the tasks are of one kind: ${largest.join(', ')}`,
        todo: `Add tasks of the other kinds${isDraftable ? ', or have them drafted' : ''}.`,
        level: 'note',
      },
    ),
    ...finding(
      'unbalanced',
      untaught.flatMap((kind) => idsOf(of(kind))),
      {
        what: `no task to learn from is of the kind ${untaught.join(', ')}`,
        todo: 'Add some, or give the tasks splits of your own.',
        level: 'note',
      },
    ),
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

/** Tasks that can stay: no copy of another one, and none of those that contradict each other. */
export function withoutRepeated(tasks: readonly CheckedTask[]): ReadonlySet<string> {
  const { same, contradictory, near } = findDuplicates(tasks);
  const gone = new Set(idsOf([...[...same, ...near].map(({ again }) => again), ...contradictory.flat()]));
  return new Set(idsOf(tasks).filter((id) => !gone.has(id)));
}
