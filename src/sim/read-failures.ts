import type { Draw } from './draw.ts';
import { groupBy } from './group-by.ts';
import { type Change, type Habits, proposeChanges } from './propose-changes.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { readRules } from './read-rules.ts';
import { type Lesson, readTrajectory } from './read-trajectory.ts';

type FailureReport = {
  readonly batch_size: number;
  readonly failure_summary: readonly { failure_type: string; count: number; description: string }[];
  /** The support of an edit is the number of trajectories that asked for it. */
  readonly patch: { readonly reasoning: string; readonly edits: readonly (Change & { support_count: number })[] };
};

/**
 * The reply of an error analyst. Each failing topic whose right rule the skill does not state gets an edit, most
 * frequent first; a failure in spite of the right rule is a slip and teaches nothing.
 */
export function readFailures(
  { skill, limit, trajectories }: OptimizerPrompt,
  habits: Habits,
  draw: Draw,
): FailureReport {
  const rules = readRules(skill);
  const lessons = trajectories.flatMap((block) => readTrajectory(block) ?? []);
  const failing = new Set(lessons.map(({ reading }) => reading.topic));
  const news = lessons.filter(({ reading, wanted }) => rules.get(reading.topic.name)?.variant !== wanted);
  const groups = groupBy(news, ({ reading }) => reading.topic).sort((a, b) => b.length - a.length);
  const edits = groups.flatMap(([lesson, ...others]) => {
    const drawForTopic: Draw = (label) => draw(`${lesson!.reading.topic.name}: ${label}`);
    const changes = proposeChanges({ lesson: lesson!, skill, rules, failing }, habits, drawForTopic);
    return changes.map((change) => ({ ...change, support_count: 1 + others.length }));
  });
  const reasoning = 'The references follow rules that the skill does not state.';
  return {
    batch_size: trajectories.length,
    failure_summary: groups.map(summarize),
    patch: { reasoning, edits: edits.slice(0, limit) },
  };
}

function summarize(group: readonly Lesson[]): FailureReport['failure_summary'][number] {
  const { reading, reference, predicted } = group[0]!;
  const description = `Wrote "${predicted}" where "${reference}" was wanted.`;
  return { failure_type: reading.topic.name, count: group.length, description };
}
