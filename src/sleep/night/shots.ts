import { plural, strip, withoutNearDuplicates } from '../../core/text/index.ts';
import type { GateAction } from '../../report/index.ts';
import type { Trained } from '../replay/sleep-env.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import type { TaskRecord, Tasks } from '../task-record.ts';
import { MOST_VALIDATION } from './prepare-tasks.ts';

/** An existing skill that is trained too, from its own text and by its own tasks. */
export type OtherSkill = { readonly name: string; readonly text: string; readonly tasks: Tasks };

/** One document that a night puts to the test, and the tasks that judge it. */
export type Shot = {
  readonly trained: Trained;
  /** The name of an existing skill; empty for the managed skill, a target and the memory. */
  readonly named: string;
  readonly tasks: Tasks;
};

/** `skill`, `memory`, or `skill NAME` for an existing one. */
export const labelOf = ({ trained, named }: Pick<Shot, 'trained' | 'named'>) =>
  named === '' ? trained : `${trained} ${named}`;

export type Unverified = { readonly action: GateAction; readonly note: string };
export type UntrainedDocument = Shot & Unverified;

export type ShotOptions = {
  readonly evolveSkill?: boolean | undefined;
  readonly evolveMemory?: boolean | undefined;
  /** Existing skills that are trained besides the given one; their tasks are not among the given ones. */
  readonly others?: readonly OtherSkill[] | undefined;
  /** `off`: every edit is taken, nothing is measured. */
  readonly gateMode?: 'on' | 'off' | undefined;
  /** With fewer tasks held out nothing is tried. Default: 6. */
  readonly leastHeldOut?: number | undefined;
};

/** The documents of a night in their order: skills with most tasks first, and the memory, which all tasks judge, last. */
export function planShots(tasks: Tasks, options: ShotOptions) {
  const { evolveSkill = true, evolveMemory = true, others = [] } = options;
  const isMainWanted = tasks.length > 0 || others.length === 0;
  const skills: Shot[] = [
    ...(isMainWanted ? [{ trained: 'skill' as const, named: '', tasks }] : []),
    ...others.map(({ name, tasks: own }) => ({ trained: 'skill' as const, named: name, tasks: own })),
  ];
  const wanted: Shot[] = [
    ...(evolveSkill ? skills.toSorted((a, b) => b.tasks.length - a.tasks.length) : []),
    ...(evolveMemory ? [{ trained: 'memory' as const, named: '', tasks: tasksOfAll(tasks, others) }] : []),
  ];
  const shots: Shot[] = [];
  const untrained: UntrainedDocument[] = [];
  for (const shot of wanted) {
    const tooFew = others.length > 0 ? whyTooFew(shot.tasks, options) : undefined;
    const why = tooFew ?? whyUnverified(shot.tasks, options);
    if (why) untrained.push({ ...shot, ...why });
    else shots.push(shot);
  }
  return { shots, untrained };
}

const bySplit = (tasks: Tasks, wanted: TaskRecord['split']) => tasks.filter(({ split }) => split === wanted);

/** For one of several skills: says how many more tasks it needs. */
function whyTooFew(tasks: Tasks, { gateMode, leastHeldOut = LEAST_HELD_OUT }: ShotOptions): Unverified | undefined {
  const [train, val] = [bySplit(tasks, 'train').length, bySplit(tasks, 'val').length];
  const least = gateMode === 'off' ? 0 : leastHeldOut;
  if (train > 0 && val >= least) return undefined;
  const more = plural(Math.max(0, least - val) + 1, 'more such task'); // one of them to learn from
  const note = `${plural(tasks.length, 'task')}, ${val} of them held out: too few; about ${more} until something can be proven.`;
  return { action: 'reject', note };
}

/** Each skill brings as many validation tasks as one proof needs; the memory's proof takes an even sample of all. */
function tasksOfAll(tasks: Tasks, others: readonly OtherSkill[]): Tasks {
  if (others.length === 0) return tasks;
  const all = [...tasks, ...others.flatMap(({ tasks: own }) => own)];
  const held = withoutNearDuplicates(bySplit(all, 'val')); // two skills may have been asked the same
  const isTaken = (at: number) =>
    Math.floor(((at + 1) * MOST_VALIDATION) / held.length) > Math.floor((at * MOST_VALIDATION) / held.length);
  const measured = new Set(held.length > MOST_VALIDATION ? held.filter((_, at) => isTaken(at)) : held);
  return all.filter((task) => task.split !== 'val' || measured.has(task));
}

/** A proof needs held-out tasks that were not learned from; test tasks decide nothing. */
export function whyUnverified(
  tasks: Tasks,
  { gateMode, leastHeldOut = LEAST_HELD_OUT }: ShotOptions,
): Unverified | undefined {
  const [train, val] = [bySplit(tasks, 'train'), bySplit(tasks, 'val')];
  const unverified = (note: string): Unverified => ({ action: 'reject_unverified', note });
  if (train.length === 0 && val.length === 0) return { action: 'reject', note: 'There is no task to learn from.' };
  if (val.length === 0) return unverified('No task is held out: whatever was learned could not be verified.');
  const learned = new Set(train.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const leaked = val.filter(({ id }) => learned.has(id)).length;
  if (leaked > 0) return unverified(`${leaked} held-out tasks are also learned from.`);
  if (train.length === 0) return unverified('Every task is held out: there is none to learn from.');
  if (gateMode === 'off' || val.length >= leastHeldOut) return undefined;
  const note = `${val.length} tasks are held out, and ${leastHeldOut} is the least that proves anything.`;
  return { action: 'reject', note };
}

export const textsByHint = (others: readonly OtherSkill[], texts: ReadonlyMap<string, string>) =>
  new Map(
    others.flatMap(({ name, tasks }) => tasks.map(({ skillHint }) => [strip(skillHint), texts.get(name)!] as const)),
  );
