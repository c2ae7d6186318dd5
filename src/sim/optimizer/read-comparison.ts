import { COMPARISON_TITLES } from '../../core/contracts/index.ts';
import { type Lesson, readTrajectory } from './read-trajectory.ts';

/** What the comparison of two epochs teaches, by what became of a task. */
export type Compared = {
  readonly regressed: readonly Lesson[];
  readonly persistent: readonly Lesson[];
  readonly improved: readonly Lesson[];
};

const PART = /^### (.*)$|<trajectory-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/trajectory-\2>/gm;

/** Each task comes with two trajectories, before and now; the later one counts. */
export function readComparison(comparison: string): Compared {
  const blocks = new Map<string, string[]>();
  let title = '';
  for (const [, heading, , body = ''] of comparison.matchAll(PART)) {
    if (heading !== undefined) title = heading;
    else blocks.set(title, [...(blocks.get(title) ?? []), body]);
  }
  const lessonsUnder = (wanted: string) =>
    (blocks.get(wanted) ?? []).flatMap((block, place) => (place % 2 === 1 ? (readTrajectory(block) ?? []) : []));
  return {
    regressed: lessonsUnder(COMPARISON_TITLES.regressed),
    persistent: lessonsUnder(COMPARISON_TITLES.persistent_fail),
    improved: lessonsUnder(COMPARISON_TITLES.improved),
  };
}
