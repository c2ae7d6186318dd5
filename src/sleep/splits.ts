import { createHash } from 'node:crypto';
import { SkillError } from '../core/contracts/index.ts';
import {
  groupBy,
  nearDuplicateGroups,
  nearDuplicateOf,
  roundHalfToEven,
  strip,
  withoutNearDuplicates,
} from '../core/text/index.ts';
import type { SleepSplit, TaskRecord, Tasks } from './task-record.ts';

type Fractions = { readonly valFraction: number; readonly testFraction: number };

/** `holdoutFraction` is the older name of `valFraction`. */
type FractionSettings = {
  readonly [Name in 'valFraction' | 'holdoutFraction' | 'testFraction']?: number | undefined;
};

/** Decides for harvest, tasks file and night which part is held out. */
export function resolveFractions(settings: FractionSettings = {}): Fractions {
  const { holdoutFraction = 0.34, valFraction = holdoutFraction, testFraction = 0 } = settings;
  const isPart = (value: number) => value >= 0 && value <= 1;
  if (isPart(valFraction) && isPart(testFraction) && valFraction + testFraction < 1)
    return { valFraction, testFraction };
  const message = `expected valFraction and testFraction from 0 to 1 and together below 1, got ${valFraction} and ${testFraction}`;
  const hint = 'What is held out cannot be learned from: leave something for training, such as valFraction 0.34.';
  throw new SkillError('CONFIG_INVALID', message, { hint });
}

type Earlier = Pick<TaskRecord, 'id' | 'intent' | 'split'> & Partial<Pick<TaskRecord, 'skillHint' | 'project'>>;
type EarlierTasks = readonly Earlier[];

export type SplitOptions = FractionSettings & {
  readonly seed?: number | undefined;
  /** Tasks of earlier nights. A task that comes again keeps its split, and a near-duplicate gets the same. */
  readonly earlier?: EarlierTasks | undefined;
  /** Hold out enough tasks of each skill that tasks name. */
  readonly isBySkill?: boolean | undefined;
};

/** Fewer held-out tasks say more about themselves than about a change. */
export const LEAST_HELD_OUT = 6;
/** One or two tasks seldom show a habit. */
const LEAST_LEARNED = 3;

/**
 * Splits tasks by a hash of seed and id, so that neither order nor other tasks matter; near-duplicates stay together. Keeps
 * the order of `tasks`. A task that is near to both sides of earlier nights fits nowhere and is left out.
 */
export function assignSplits(
  tasks: Tasks,
  { seed = 42, earlier = [], isBySkill = false, ...settings }: SplitOptions = {},
): TaskRecord[] {
  const bounds = toBounds(resolveFractions(settings));
  const groups = toGroups(tasks, earlier, seed).map((group) => decide(group, bounds));
  const promoted = promote(groups, tasks);
  const settled = isBySkill ? holdOutBySkill(promoted, tasks, earlier) : promoted;
  const splits = new Map(settled.flatMap(splitsOf));
  for (const id of leaking(tasks, earlier, splits)) splits.delete(id);
  return tasks.flatMap((task) => {
    const split = splits.get(task.id);
    return split === undefined ? [] : [{ ...task, split }];
  });
}

/** The first of a hundred buckets are `val`, the next ones `test`. */
type Bounds = { readonly val: number; readonly test: number };

function toBounds({ valFraction, testFraction }: Fractions): Bounds {
  const val = roundHalfToEven(100 * valFraction);
  return { val, test: val + roundHalfToEven(100 * testFraction) };
}

type Member = { readonly id: string; readonly hash: bigint; readonly isReal: boolean; readonly kept?: SleepSplit };
type Group = {
  readonly members: readonly Member[];
  /** The smallest (hash, id). */
  readonly first: Member;
  readonly split: SleepSplit | undefined;
  readonly isFixed: boolean;
};
type Groups = readonly Group[];

function toGroups(tasks: Tasks, earlier: EarlierTasks, seed: number): Member[][] {
  const kept = new Map(earlier.map(({ id, split }) => [id, split]));
  const members = tasks.map(({ id, origin }): Member => {
    const own = { id, hash: hashOf(seed, id), isReal: origin !== 'dream' };
    const split = kept.get(id) ?? (own.isReal ? undefined : 'train');
    return split === undefined ? own : { ...own, kept: split };
  });
  const tonight = new Set(tasks.map(({ id }) => id));
  const before = earlier.filter(({ id }) => !tonight.has(id));
  const shadows = before.map(({ id, split }): Member => ({ id, hash: hashOf(seed, id), isReal: true, kept: split }));
  const groupNumbers = nearDuplicateGroups([...tasks, ...before].map(({ intent }) => intent));
  const numbered = [...members, ...shadows].map((member, at) => ({ member, group: groupNumbers[at]! }));
  return groupBy(numbered, ({ group }) => group).map((group) => group.map(({ member }) => member));
}

const hashOf = (seed: number, id: string) => BigInt(`0x${createHash('sha256').update(`${seed}${id}`).digest('hex')}`);

function decide(members: readonly Member[], { val, test }: Bounds): Group {
  const first = members.reduce((least, member) => (isBefore(member, least) ? member : least));
  const kept = [...new Set(members.flatMap((member) => member.kept ?? []))];
  if (kept.length > 0) return { members, first, split: kept.length === 1 ? kept[0] : undefined, isFixed: true };
  const bucket = Number(first.hash % 100n);
  const split = bucket < val ? 'val' : bucket < test ? 'test' : 'train';
  return { members, first, split, isFixed: false };
}

const isBefore = (a: Member, b: Member) => a.hash < b.hash || (a.hash === b.hash && a.id < b.id);

/** Moves a group if no task is held out, or none is left to learn from. Test tasks stay. */
function promote(groups: Groups, tasks: Tasks): Groups {
  if (tasks.filter(({ origin }) => origin !== 'dream').length < 2) return groups;
  const tonight = new Set(tasks.map(({ id }) => id));
  const has = (split: SleepSplit, among: Groups) =>
    among.some((group) => splitsOf(group).some(([id, own]) => own === split && tonight.has(id)));
  const withVal = has('val', groups) ? groups : moveFirst(groups, 'train', 'val');
  return has('train', withVal) ? withVal : moveFirst(withVal, 'val', 'train');
}

function moveFirst(groups: Groups, from: SleepSplit, to: SleepSplit): Groups {
  const movable = groups.filter(({ split, isFixed }) => split === from && !isFixed);
  if (movable.length === 0) return groups;
  const chosen = movable.reduce((least, group) => (isBefore(group.first, least.first) ? group : least));
  return groups.map((group) => (group === chosen ? { ...group, split: to } : group));
}

/** Each skill is judged by its own tasks, and chance may have held out too few of them. */
function holdOutBySkill(groups: Groups, tasks: Tasks, earlier: EarlierTasks): Groups {
  const bySkill = groupByHint(tasks);
  if (bySkill.every(({ skillHint }) => skillHint === '')) return groups;
  const tonight = new Set(tasks.map(({ id }) => id));
  return bySkill.reduce((before, { skillHint, tasks: own }) => {
    const projects = new Set(own.map(({ project }) => project));
    const isPooled = ({ id, split, skillHint: hint = '', project = '' }: Earlier) =>
      split === 'val' && hint.trim() === skillHint && projects.has(project) && !tonight.has(id);
    return holdOutEnough(before, own, earlier.filter(isPooled));
  }, groups);
}

/** As many as a proof needs, in the order of hashes; none if there are too few, or too few are left to learn from. */
function holdOutEnough(groups: Groups, own: Tasks, pooled: EarlierTasks): Groups {
  const ids = new Set(own.map(({ id }) => id));
  const count = (wanted: SleepSplit, among: Groups, others: EarlierTasks = []) => {
    const splits = new Map(among.flatMap(splitsOf));
    return withoutNearDuplicates([...own.filter(({ id }) => splits.get(id) === wanted), ...others]).length;
  };
  const movable = groups
    .filter(({ split, isFixed, members }) => split === 'train' && !isFixed && members.every(({ id }) => ids.has(id)))
    .sort((a, b) => (isBefore(a.first, b.first) ? -1 : 1));
  let settled = groups;
  for (const group of movable) {
    if (count('val', settled, pooled) >= LEAST_HELD_OUT) break;
    settled = settled.map((one) => (one === group ? { ...one, split: 'val' } : one));
  }
  const isEnough = count('val', settled, pooled) >= LEAST_HELD_OUT && count('train', settled) >= LEAST_LEARNED;
  return isEnough ? settled : groups;
}

/** If earlier nights disagree about a group, only its earlier members have a split. */
function splitsOf({ members, split }: Group): [string, SleepSplit][] {
  return members.flatMap(({ id, kept, isReal }): [string, SleepSplit][] => {
    const own = split ?? (isReal ? kept : undefined);
    return own === undefined ? [] : [[id, own]];
  });
}

/** Held-out tasks that are near-duplicates of tasks learned from: an earlier night has decided so. */
function leaking(tasks: Tasks, earlier: EarlierTasks, splits: ReadonlyMap<string, SleepSplit>): string[] {
  if (earlier.length === 0) return [];
  const learned = [...tasks, ...earlier].filter(({ id }) => splits.get(id) === 'train');
  const isLearned = nearDuplicateOf(learned.map(({ intent }) => intent));
  return tasks.flatMap(({ id, intent }) => (splits.get(id) !== 'train' && isLearned(intent) ? [id] : []));
}

const BY_WEIGHT = ['success', 'fail', 'mixed', 'unknown'] as const;

/** One task per id: the first, with the sessions of all, the best outcome, and the hint if all agree on it. */
export function dedupeTasks(tasks: Tasks): TaskRecord[] {
  return groupBy(tasks, ({ id }) => id).map((same) => ({
    ...same[0]!,
    sourceSessions: [...new Set(same.flatMap(({ sourceSessions }) => sourceSessions))],
    outcome: BY_WEIGHT.find((outcome) => same.some((task) => task.outcome === outcome))!,
    skillHint: onlyOne(hintsOf(same).filter((hint) => hint !== '')),
  }));
}

const hintsOf = (tasks: Tasks) => [...new Set(tasks.map(({ skillHint }) => strip(skillHint)))];
const onlyOne = (hints: readonly string[]) => (hints.length === 1 ? hints[0]! : '');

/** Groups tasks, deduped or not, by the skill that all sightings of a task agree on; in doubt, the managed one (empty hint). */
export function groupByHint(tasks: Tasks): { readonly skillHint: string; readonly tasks: Tasks }[] {
  const sightings = groupBy(tasks, ({ id }) => id);
  const agreed = new Map(sightings.map((same) => [same[0]!.id, onlyOne(hintsOf(same))]));
  const groups = groupBy(tasks, ({ id }) => agreed.get(id)!);
  return groups.map((group) => ({ skillHint: agreed.get(group[0]!.id)!, tasks: group }));
}
