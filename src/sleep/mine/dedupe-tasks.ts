import { groupBy, strip } from '../../core/text/index.ts';
import type { TaskRecord } from '../task-record.ts';

const BY_WEIGHT = ['success', 'fail', 'mixed', 'unknown'] as const;

/** One task for each id: the first one, with the sessions of all, the best outcome, and the hint that nobody contradicts. */
export function dedupeTasks(tasks: readonly TaskRecord[]): TaskRecord[] {
  return groupBy(tasks, ({ id }) => id).map((same) => ({
    ...same[0]!,
    sourceSessions: [...new Set(same.flatMap(({ sourceSessions }) => sourceSessions))],
    outcome: BY_WEIGHT.find((outcome) => same.some((task) => task.outcome === outcome))!,
    skillHint: onlyOne(hintsOf(same).filter((hint) => hint !== '')),
  }));
}

const hintsOf = (tasks: readonly TaskRecord[]) => [...new Set(tasks.map(({ skillHint }) => strip(skillHint)))];
const onlyOne = (hints: readonly string[]) => (hints.length === 1 ? hints[0]! : '');

export type HintGroup = {
  /** Empty: the skill that sleep itself manages. */
  readonly skillHint: string;
  readonly tasks: readonly TaskRecord[];
};

/** By the skill that every sighting of a task agrees on; what is in doubt belongs to the managed skill. For tasks not yet deduped. */
export function groupByHint(tasks: readonly TaskRecord[]): HintGroup[] {
  const sightings = groupBy(tasks, ({ id }) => id);
  const agreed = new Map(sightings.map((same) => [same[0]!.id, onlyOne(hintsOf(same))]));
  const groups = groupBy(tasks, ({ id }) => agreed.get(id)!);
  return groups.map((group) => ({ skillHint: agreed.get(group[0]!.id)!, tasks: group }));
}
