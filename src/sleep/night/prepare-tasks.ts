import { jaccard, nearDuplicateOf, withoutNearDuplicates, wordsOf } from '../../core/text/index.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { dedupeTasks } from '../splits.ts';
import { isReplayable, type TaskRecord, type Tasks } from '../task-record.ts';

const MOST_ARCHIVED = 300;

/**
 * The archive after a night: tonight's real tasks last, at most `most`. A task that comes again is one entry with all its
 * sessions. It keeps its split, unless it is learned from tonight: such a task is never measured with.
 */
export function archiveTasks(archive: Tasks, tonight: Tasks, most = MOST_ARCHIVED): TaskRecord[] {
  const before = new Map(archive.map((task) => [task.id, task]));
  const real = dedupeTasks(tonight.filter(({ origin, derivedFrom }) => origin === 'real' && derivedFrom === ''));
  const added = real.map((task) => mergeWith(before.get(task.id), task));
  const ids = new Set(added.map(({ id }) => id));
  const kept = [...archive.filter(({ id }) => !ids.has(id)), ...added];
  return kept.slice(Math.max(0, kept.length - most));
}

function mergeWith(before: TaskRecord | undefined, task: TaskRecord): TaskRecord {
  if (!before) return task;
  const sourceSessions = [...new Set([...before.sourceSessions, ...task.sourceSessions])];
  return { ...task, sourceSessions, split: task.split === 'train' ? 'train' : before.split };
}

/** Validation tasks of earlier nights for tonight's proof, without near-duplicates of tonight's or of learned tasks. */
export function poolValidation(archive: Tasks, tonight: Tasks): TaskRecord[] {
  const ids = new Set(tonight.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const newest = archive.filter(({ id, split }) => split === 'val' && !ids.has(id)).reverse();
  return withoutNearDuplicates(newest, [...tonight, ...archive.filter(({ split }) => split === 'train')]).reverse();
}

/** The `count` archived training tasks that are most like tonight's. None is, or is nearly, a task held out tonight. */
export function recallTasks(archive: Tasks, tonight: Tasks, count: number): TaskRecord[] {
  const ids = new Set(tonight.flatMap(({ id, derivedFrom }) => [id, derivedFrom]));
  const isHeldOut = nearDuplicateOf(intentsOf(tonight, (split) => split !== 'train'));
  const learned = intentsOf(tonight, (split) => split === 'train').map(wordsOf);
  const free = archive.filter(({ id, split, intent }) => split === 'train' && !ids.has(id) && !isHeldOut(intent));
  const ranked = free.map((task) => ({ task, similarity: nearness(task, learned) }));
  const similar = ranked.filter(({ similarity }) => similarity > 0).sort((a, b) => b.similarity - a.similarity);
  return similar
    .slice(0, Math.max(0, count))
    .map(({ task }) => ({ ...task, id: `recall:${task.id}`, split: 'train', derivedFrom: task.id }));
}

const intentsOf = (tasks: Tasks, isWanted: (split: TaskRecord['split']) => boolean) =>
  tasks.filter(({ split }) => isWanted(split)).map(({ intent }) => intent);

function nearness({ intent }: TaskRecord, others: readonly ReadonlySet<string>[]): number {
  const words = wordsOf(intent);
  return others.reduce((most, other) => Math.max(most, jaccard(words, other)), 0);
}

/** Other words around the same request, so that a rule does not depend on one wording. */
const WRAPPERS: readonly ((intent: string) => string)[] = [
  (intent) => `${intent}\n\nThis is one of several requests of this kind; treat it like the others.`,
  (intent) => `Once more, for another case: ${intent}`,
  (intent) => `In a hurry: ${intent}`,
];

/** `factor` invented variants of each training task. None is ever held out. */
export const dreamTasks = (tasks: Tasks, factor: number): TaskRecord[] =>
  tasks
    .filter(({ split, origin }) => split === 'train' && origin === 'real')
    .flatMap((task) =>
      Array.from({ length: Math.max(0, factor) }, (_, index) => ({
        ...{ ...task, id: `${task.id}_dream${index}`, intent: WRAPPERS[index % WRAPPERS.length]!(task.intent) },
        ...{ origin: 'dream' as const, derivedFrom: task.id },
      })),
    );

export type PreparedTasks = {
  readonly tasks: Tasks;
  readonly tonight: Tasks;
  readonly notReplayable: number;
  readonly pooled: number;
  /** The day's tasks that are left out of the proof: nearly the same as another held-out task, or as one learned from. */
  readonly repeated: number;
};

/** More validation tasks than this cost more than they prove. */
export const MOST_VALIDATION = 36;

type TaskShares = Pick<SleepSettings, 'recallK' | 'dreamFactor'>;

type TaskTests = {
  /** Names the skill that a task belongs to; empty: the one that the night improves anyway. */
  readonly ownerOf?: (task: TaskRecord) => string;
  readonly canReplay?: (task: TaskRecord) => boolean;
};

/** The day's tasks that can be attempted, archived tasks to measure with and to learn from, and invented variants. */
export function prepareTasks(
  day: Tasks,
  archive: Tasks,
  wanted: TaskShares,
  { ownerOf = () => '', canReplay = isReplayable }: TaskTests = {},
): PreparedTasks {
  const tonight = day.filter(canReplay);
  const learned = [...tonight, ...archive].filter(({ split }) => split === 'train');
  const owners = [...new Set(tonight.map(ownerOf))];
  const prepared = (owners.length > 0 ? owners : ['']).map((owner) => {
    const isOwn = (task: TaskRecord) => ownerOf(task) === owner;
    return prepareOwn(tonight.filter(isOwn), archive.filter(canReplay).filter(isOwn), learned, wanted);
  });
  return {
    tasks: prepared.flatMap(({ tasks }) => tasks),
    tonight,
    notReplayable: day.length - tonight.length,
    pooled: prepared.reduce((sum, { pooled }) => sum + pooled, 0),
    repeated: prepared.reduce((sum, { repeated }) => sum + repeated, 0),
  };
}

/** A held-out task counts once, and only if nothing like it was learned from, for any skill and on any night. */
function prepareOwn(day: Tasks, archive: Tasks, learned: Tasks, { recallK, dreamFactor }: TaskShares) {
  const heldOut = day.filter(({ split }) => split !== 'train');
  const proving = new Set(withoutNearDuplicates(heldOut, learned));
  const tonight = day.filter((task) => task.split === 'train' || proving.has(task));
  const held = tonight.filter(({ split }) => split === 'val').length;
  const pool = poolValidation(archive, [...tonight, ...learned]);
  const pooled = pool.slice(Math.max(0, pool.length - Math.max(0, MOST_VALIDATION - held)));
  const isHeldOut = nearDuplicateOf([...proving, ...pooled].map(({ intent }) => intent));
  const dreams = dreamTasks(tonight, dreamFactor).filter(({ intent }) => !isHeldOut(intent));
  const tasks = [...tonight, ...recallTasks(archive, tonight, recallK), ...dreams, ...pooled];
  return { tasks, pooled: pooled.length, repeated: day.length - tonight.length };
}
