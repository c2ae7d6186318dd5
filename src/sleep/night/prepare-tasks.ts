import { jaccard, nearDuplicateOf, withoutNearDuplicates, wordsOf } from '../../core/text/index.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import { dedupeTasks } from '../splits.ts';
import { isReplayable, type TaskRecord } from '../task-record.ts';

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

/** Other words around the same request, so that what is learned does not hang on one wording. */
const WRAPPERS: readonly ((intent: string) => string)[] = [
  (intent) => `${intent}\n\nThis is one of several requests of this kind; treat it like the others.`,
  (intent) => `Once more, for another case: ${intent}`,
  (intent) => `In a hurry: ${intent}`,
];

/** Invented variants of tasks to learn from, so many of each. None is ever held out. */
export const dreamTasks = (tasks: readonly TaskRecord[], factor: number): TaskRecord[] =>
  tasks
    .filter(({ split, origin }) => split === 'train' && origin === 'real')
    .flatMap((task) => Array.from({ length: Math.max(0, factor) }, (_, index) => dreamOf(task, index)));

const dreamOf = (task: TaskRecord, index: number): TaskRecord => ({
  ...task,
  id: `${task.id}_dream${index}`,
  intent: WRAPPERS[index % WRAPPERS.length]!(task.intent),
  split: 'train',
  origin: 'dream',
  derivedFrom: task.id,
});

export type PreparedTasks = {
  readonly tasks: readonly TaskRecord[];
  /** Of this day, and can be attempted. */
  readonly tonight: readonly TaskRecord[];
  /** Of this day, and need files or tools. */
  readonly notReplayable: number;
  /** Validation tasks of earlier nights. */
  readonly pooled: number;
  /** Of this day, and left out of the proof: nearly the same as another task that is held out, or as what was learned from. */
  readonly repeated: number;
};

/** More validation tasks than this cost more than they prove. */
export const MOST_VALIDATION = 36;

type Wanted = Pick<SleepSettings, 'recallK' | 'dreamFactor'>;

/**
 * What a night works with: the day's tasks that can be attempted, with their splits; from earlier nights, those to measure
 * with besides, the newest first, and those that are like what is learned from; and invented variants. Of other skills
 * than the one that the night improves anyway, each has only its own; `ownerOf` names the skill of a task. `canReplay`: in
 * words, unless it is said.
 */
export function prepareTasks(
  day: readonly TaskRecord[],
  archive: readonly TaskRecord[],
  wanted: Wanted,
  ownerOf: (task: TaskRecord) => string = () => '',
  canReplay: (task: TaskRecord) => boolean = isReplayable,
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

/** What is held out counts once, and only if nothing like it was `learned` from, for whichever skill and on whichever night. */
function prepareOwn(
  day: readonly TaskRecord[],
  archive: readonly TaskRecord[],
  learned: readonly TaskRecord[],
  { recallK, dreamFactor }: Wanted,
): Pick<PreparedTasks, 'tasks' | 'pooled' | 'repeated'> {
  const proving = new Set(
    withoutNearDuplicates(
      day.filter(({ split }) => split !== 'train'),
      learned,
    ),
  );
  const tonight = day.filter((task) => task.split === 'train' || proving.has(task));
  const held = tonight.filter(({ split }) => split === 'val').length;
  const pool = poolValidation(archive, [...tonight, ...learned]);
  const pooled = pool.slice(Math.max(0, pool.length - Math.max(0, MOST_VALIDATION - held)));
  const isHeldOut = nearDuplicateOf([...proving, ...pooled].map(({ intent }) => intent));
  const dreams = dreamTasks(tonight, dreamFactor).filter(({ intent }) => !isHeldOut(intent));
  const tasks = [...tonight, ...recallTasks(archive, tonight, recallK), ...dreams, ...pooled];
  return { tasks, pooled: pooled.length, repeated: day.length - tonight.length };
}
