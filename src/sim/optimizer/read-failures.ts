import { readBlock } from '../../core/document/index.ts';
import { groupBy } from '../../core/text/index.ts';
import type { Draw } from '../draw.ts';
import { readRules } from '../world/read-rules.ts';
import { reminderOf } from '../world/reminders.ts';
import { type Character, mistakesFor, warned } from './character.ts';
import { readExperience } from './experience.ts';
import { proposeChanges } from './propose-changes.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { type Lesson, readTrajectory } from './read-trajectory.ts';
import { inMode } from './whole-version.ts';

/**
 * The reply of an error analyst. Each failing topic whose right rule the skill does not state gets an edit, most
 * frequent first; a failure in spite of the right rule is a slip: it teaches nothing, or is worth a reminder.
 * The support of an edit is the number of trajectories that asked for it.
 */
export function readFailures(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { skill, limit, trajectories, mode } = prompt;
  const rules = readRules(skill);
  const lessons = trajectories.flatMap((block) => readTrajectory(block) ?? []);
  const isSlip = ({ reading, wanted }: Lesson) => rules.get(reading.topic.name)?.variant === wanted;
  const groups = groupBy(
    lessons.filter((lesson) => !isSlip(lesson)),
    ({ reading }) => reading.topic,
  ).sort((a, b) => b.length - a.length);
  const changes = proposeForGroups(groups, lessons, prompt, character, draw).slice(0, limit);
  return {
    batch_size: trajectories.length,
    failure_summary: groups.map(summarize),
    patch: { reasoning: 'The references follow rules that the skill does not state.', ...inMode(mode, skill, changes) },
    ...(prompt.wantsReminders ? { appendix_notes: remind(lessons.filter(isSlip), skill) } : {}),
  };
}

function proposeForGroups(
  groups: readonly Lesson[][],
  lessons: readonly Lesson[],
  prompt: OptimizerPrompt,
  character: Character,
  draw: Draw,
) {
  const { skill } = prompt;
  const experience = readExperience(prompt);
  const habits = warned(character, character.metaGain, experience);
  const failing = new Set(lessons.map(({ reading }) => reading.topic));
  const guided = readRules(readBlock(skill, 'slowUpdate'));
  const context = { skill, rules: readRules(skill), failing, experience };
  return groups.flatMap(([lesson, ...others]) => {
    const { name } = lesson!.reading.topic;
    if (guided.has(name)) return []; // edits there are dropped: that is for the end of the epoch
    const changes = proposeChanges({ ...context, lesson: lesson! }, habits, mistakesFor(name, character, draw));
    return changes.map((change) => ({ ...change, support_count: 1 + others.length }));
  });
}

function summarize(group: readonly Lesson[]) {
  const { reading, reference, predicted } = group[0]!;
  const description = `Wrote "${predicted}" where "${reference}" was wanted.`;
  const task_ids = group.map(({ id }) => id);
  return { failure_type: reading.topic.name, count: group.length, description, task_ids };
}

/** The skill says it, and it was not followed. */
function remind(slips: readonly Lesson[], skill: string): string[] {
  const ruled = readRules(skill);
  const topics = slips.map(({ reading }) => reading.topic.name).filter((topic) => ruled.has(topic));
  return [...new Set(topics)].map((topic) => reminderOf([topic]));
}
