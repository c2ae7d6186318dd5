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
};

/** More validation tasks than this cost more than they prove. */
export const MOST_VALIDATION = 36;

type Wanted = Pick<SleepSettings, 'recallK' | 'dreamFactor'>;

/**
 * What a night works with: the day's tasks that can be attempted, with their splits; from earlier nights, those to measure
 * with besides, the newest first, and those that are like what is learned from; and invented variants. Of other skills
 * than the one that the night improves anyway, each has only its own; `ownerOf` names the skill of a task.
 */
export function prepareTasks(
  day: readonly TaskRecord[],
  archive: readonly TaskRecord[],
  wanted: Wanted,
  ownerOf: (task: TaskRecord) => string = () => '',
): PreparedTasks {
  const tonight = day.filter(isReplayable);
  const owners = [...new Set(tonight.map(ownerOf))];
  const prepared = (owners.length > 0 ? owners : ['']).map((owner) => {
    const isOwn = (task: TaskRecord) => ownerOf(task) === owner;
    return prepareOwn(tonight.filter(isOwn), archive.filter(isOwn), wanted);
  });
  return {
    tasks: prepared.flatMap(({ tasks }) => tasks),
    tonight,
    notReplayable: day.length - tonight.length,
    pooled: prepared.reduce((sum, { pooled }) => sum + pooled, 0),
  };
}

function prepareOwn(
  tonight: readonly TaskRecord[],
  archive: readonly TaskRecord[],
  { recallK, dreamFactor }: Wanted,
): Pick<PreparedTasks, 'tasks' | 'pooled'> {
  const held = tonight.filter(({ split }) => split === 'val').length;
  const pool = poolValidation(archive, tonight);
  const pooled = pool.slice(Math.max(0, pool.length - Math.max(0, MOST_VALIDATION - held)));
  const recalled = recallTasks(archive, tonight, recallK);
  const learned = [...tonight, ...recalled];
  return { tasks: [...learned, ...dreamTasks(tonight, dreamFactor), ...pooled], pooled: pooled.length };
}
