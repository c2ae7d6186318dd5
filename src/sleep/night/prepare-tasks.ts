import { nearDuplicateOf, withoutNearDuplicates } from '../../core/text/index.ts';
import { poolValidation, recallTasks } from '../archive.ts';
import { dreamTasks } from '../dream/dream-tasks.ts';
import { isReplayable } from '../replay/replayable.ts';
import type { SleepSettings } from '../settings/sleep-settings.ts';
import type { TaskRecord } from '../task-record.ts';

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
