import { strip, withoutNearDuplicates } from '../../core/text/index.ts';
import type { GateAction } from '../../report/index.ts';
import type { Trained } from '../replay/sleep-env.ts';
import { LEAST_HELD_OUT } from '../splits.ts';
import type { TaskRecord } from '../task-record.ts';
import { MOST_VALIDATION } from './prepare-tasks.ts';

/** An existing skill that is trained too, from its own text and by its own tasks. */
export type OtherSkill = {
  readonly name: string;
  readonly text: string;
  readonly tasks: readonly TaskRecord[];
};

/** One document that a night puts to the test, and the tasks that judge it. */
export type Shot = {
  readonly trained: Trained;
  /** Of an existing skill; empty for the skill of our own, a target and the memory. */
  readonly named: string;
  readonly tasks: readonly TaskRecord[];
};

/** `skill`, `memory`, or `skill NAME` of an existing one. */
export const labelOf = ({ trained, named }: Pick<Shot, 'trained' | 'named'>) =>
  named === '' ? trained : `${trained} ${named}`;

/** A document that a night could not put to the test. */
export type Unverified = { readonly action: GateAction; readonly note: string };
export type UntrainedDocument = Shot & Unverified;

type ShotOptions = {
  readonly evolveSkill?: boolean | undefined;
  readonly evolveMemory?: boolean | undefined;
  readonly others?: readonly OtherSkill[] | undefined;
  readonly gateMode?: 'on' | 'off' | undefined;
  readonly leastHeldOut?: number | undefined;
};

/** The documents of a night in their order: skills with most tasks first, and the memory, which all tasks judge, last. */
export function planShots(tasks: readonly TaskRecord[], options: ShotOptions) {
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
  const looked = wanted.map((shot) => ({
    shot,
    why: (others.length > 0 ? whyTooFew(shot.tasks, options) : undefined) ?? whyUnverified(shot.tasks, options),
  }));
  return {
    shots: looked.filter(({ why }) => why === undefined).map(({ shot }) => shot),
    untrained: looked.flatMap(({ shot, why }): UntrainedDocument[] => (why ? [{ ...shot, ...why }] : [])),
  };
}

/** Of a part of the night's tasks: that the rest belongs to other skills is no fault of it. */
function whyTooFew(
  tasks: readonly TaskRecord[],
  { gateMode = 'on', leastHeldOut = LEAST_HELD_OUT }: ShotOptions,
): Unverified | undefined {
  const of = (split: TaskRecord['split']) => tasks.filter((task) => task.split === split).length;
  const [train, val, least] = [of('train'), of('val'), gateMode === 'off' ? 0 : leastHeldOut];
  if (train > 0 && val >= least) return undefined;
  const more = Math.max(0, least - val) + 1; // one of them to learn from
  const what = `${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}, ${val} of them held out`;
  const needs = `about ${more} more such ${more === 1 ? 'task' : 'tasks'} until something can be proven`;
  return { action: 'reject', note: `${what}: too few; ${needs}.` };
}

/** Each skill has brought as many validation tasks as one proof needs; for one more proof, some of all will do. */
function tasksOfAll(tasks: readonly TaskRecord[], others: readonly OtherSkill[]): readonly TaskRecord[] {
  if (others.length === 0) return tasks;
  const all = [...tasks, ...others.flatMap(({ tasks: own }) => own)];
  const held = withoutNearDuplicates(all.filter(({ split }) => split === 'val')); // two skills may have been asked the same
  const isTaken = (at: number) =>
    Math.floor(((at + 1) * MOST_VALIDATION) / held.length) > Math.floor((at * MOST_VALIDATION) / held.length);
  const measured = new Set(held.length > MOST_VALIDATION ? held.filter((_, at) => isTaken(at)) : held);
  return all.filter((task) => task.split !== 'val' || measured.has(task));
}

/** What was learned from proves nothing, and what is for the test alone decides nothing. */
export function whyUnverified(
  tasks: readonly TaskRecord[],
  { gateMode = 'on', leastHeldOut = LEAST_HELD_OUT }: ShotOptions,
): Unverified | undefined {
  const of = (split: TaskRecord['split']) => tasks.filter((task) => task.split === split);
  const [train, val] = [of('train'), of('val')];
  if (train.length === 0 && val.length === 0) return { action: 'reject', note: 'There is no task to learn from.' };
  const note =
    val.length === 0
      ? 'No task is held out: whatever was learned could not be verified.'
      : 'Every task is held out: there is none to learn from.';
  const learned = new Set(train.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const leaked = val.filter(({ id }) => learned.has(id)).length;
  if (leaked > 0 && val.length > 0)
    return { action: 'reject_unverified', note: `${leaked} held-out tasks are also learned from.` };
  if (train.length === 0 || val.length === 0) return { action: 'reject_unverified', note };
  if (gateMode === 'off' || val.length >= leastHeldOut) return undefined;
  return {
    action: 'reject',
    note: `${val.length} tasks are held out, and ${leastHeldOut} is the least that proves anything.`,
  };
}

/** The texts of skills by the hints of their tasks, as they have become. */
export const textsByHint = (others: readonly OtherSkill[], texts: ReadonlyMap<string, string>) =>
  new Map(
    others.flatMap(({ name, tasks }) => tasks.map(({ skillHint }) => [strip(skillHint), texts.get(name)!] as const)),
  );

/** What a night of one skill has said by itself. */
export const toldOthers = (
  others: readonly OtherSkill[],
  texts: ReadonlyMap<string, string>,
  untrained: readonly UntrainedDocument[],
) => (others.length === 0 ? {} : { newSkills: Object.fromEntries(texts), untrained });
