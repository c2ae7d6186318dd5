import { jaccard, nearDuplicateOf, withoutNearDuplicates, wordsOf } from '../core/text/index.ts';
import { dedupeTasks } from './mine/dedupe-tasks.ts';
import type { TaskRecord } from './task-record.ts';

/** Enough for years of validation; old habits fade. */
const MOST_ARCHIVED = 300;

/**
 * The archive after a night: tonight's real tasks last, at most `most`. A task that comes again is one entry, with all its
 * sessions, and keeps the split that it once had, unless it is learned from tonight: what was learned from is never measured with.
 */
export function archiveTasks(
  archive: readonly TaskRecord[],
  tonight: readonly TaskRecord[],
  most = MOST_ARCHIVED,
): TaskRecord[] {
  const before = new Map(archive.map((task) => [task.id, task]));
  const real = dedupeTasks(tonight.filter(({ origin, derivedFrom }) => origin === 'real' && derivedFrom === ''));
  const added = real.map((task) => mergeWith(before.get(task.id), task));
  const ids = new Set(added.map(({ id }) => id));
  return lastOf([...archive.filter(({ id }) => !ids.has(id)), ...added], most);
}

function mergeWith(before: TaskRecord | undefined, task: TaskRecord): TaskRecord {
  if (!before) return task;
  const sourceSessions = [...new Set([...before.sourceSessions, ...task.sourceSessions])];
  return { ...task, sourceSessions, split: task.split === 'train' ? 'train' : before.split };
}

const lastOf = <T>(items: readonly T[], count: number) => items.slice(Math.max(0, items.length - count));

/**
 * Validation tasks of earlier nights to measure tonight's candidate with besides its own: the more there are, the smaller a
 * gain can be proven. None that is nearly one of tonight, or what was ever learned from; of those that are nearly the same, the newest.
 */
export function poolValidation(archive: readonly TaskRecord[], tonight: readonly TaskRecord[]): TaskRecord[] {
  const ids = new Set(tonight.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const newest = archive.filter(({ id, split }) => split === 'val' && !ids.has(id)).reverse();
  return withoutNearDuplicates(newest, [...tonight, ...archive.filter(({ split }) => split === 'train')]).reverse();
}

/**
 * The `count` archived tasks that are most like what is learned from tonight, as further tasks to learn from. Never one
 * that was held out, comes again tonight, or is nearly what is held out tonight.
 */
export function recallTasks(
  archive: readonly TaskRecord[],
  tonight: readonly TaskRecord[],
  count: number,
): TaskRecord[] {
  const ids = new Set(tonight.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const isHeldOut = nearDuplicateOf(intentsOf(tonight, (split) => split !== 'train'));
  const learned = intentsOf(tonight, (split) => split === 'train').map(wordsOf);
  const free = archive.filter(({ id, split, intent }) => split === 'train' && !ids.has(id) && !isHeldOut(intent));
  const ranked = free.map((task) => ({ task, similarity: nearness(task, learned) }));
  const similar = ranked.filter(({ similarity }) => similarity > 0).sort((a, b) => b.similarity - a.similarity);
  return similar.slice(0, Math.max(0, count)).map(({ task }) => recalled(task));
}

const intentsOf = (tasks: readonly TaskRecord[], isWanted: (split: TaskRecord['split']) => boolean) =>
  tasks.filter(({ split }) => isWanted(split)).map(({ intent }) => intent);

function nearness({ intent }: TaskRecord, others: readonly ReadonlySet<string>[]): number {
  const words = wordsOf(intent);
  return others.reduce((most, other) => Math.max(most, jaccard(words, other)), 0);
}

const recalled = (task: TaskRecord): TaskRecord => ({
  ...task,
  id: `recall:${task.id}`,
  split: 'train',
  derivedFrom: task.id,
});
