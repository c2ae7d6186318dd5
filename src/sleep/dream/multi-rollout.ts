import type { Documents } from '../replay/attempt.ts';
import { type ReplayModels, type ReplayOptions, replayOne } from '../replay/replay.ts';
import type { TaskRecord } from '../task-record.ts';
import { RolloutSet } from './rollout-set.ts';

/** Attempts at each task when nobody says how many. */
const DEFAULT_ROLLOUTS = 3;

/** Attempts one task several times under the same documents, each an independent draw, all at once. */
export async function multiRollout(
  models: ReplayModels,
  task: TaskRecord,
  documents: Documents,
  { k = DEFAULT_ROLLOUTS, ...options }: Omit<ReplayOptions, 'sampleIndex'> & { readonly k?: number } = {},
): Promise<RolloutSet> {
  const draws = Array.from({ length: Math.max(1, k) }, (_, sampleIndex) => sampleIndex);
  const results = await Promise.all(
    draws.map((sampleIndex) => replayOne(models, task, documents, { ...options, sampleIndex })),
  );
  return new RolloutSet(
    task,
    results.filter(({ errored }) => !errored),
  );
}

const AGAIN = '~';

/** The same task `k` times, for a run that attempts each item once: `id`, `id~2`, `id~3`. */
export const repeated = (tasks: readonly TaskRecord[], k: number): TaskRecord[] =>
  tasks.flatMap((task) =>
    Array.from({ length: Math.max(1, k) }, (_, index) =>
      index === 0 ? task : { ...task, id: `${task.id}${AGAIN}${index + 1}`, derivedFrom: task.id },
    ),
  );

/** Beyond all draws that a run numbers. */
const AGAIN_FROM = 10_000_000;

/** The first draw of such a repetition: it asks what the task itself asks, and must not get the same answer. */
export const firstDrawOf = (id: string) => AGAIN_FROM * (Number(/~(\d+)$/.exec(id)?.[1] ?? 1) - 1);

/** The task that an attempt belongs to. */
export const originalId = (id: string) => id.replace(/~\d+$/, '');
