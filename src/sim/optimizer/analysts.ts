import { readBlock } from '../../core/document/index.ts';
import { groupBy } from '../../core/text/index.ts';
import type { Draw } from '../draw.ts';
import { readRules, reminderOf, type StatedRules } from '../world/world.ts';
import { append, type Change, inMode, linesBeyond, sayingOf, topicOf } from './edits.ts';
import {
  better,
  type Character,
  drawRemark,
  LESSONS,
  mistakesFor,
  type PastStep,
  proposeChange,
  proposeChanges,
  readExperience,
  readSteps,
  readTried,
  warned,
  writeTried,
} from './propose-changes.ts';
import { type Lesson, type OptimizerPrompt, readComparison, readTrajectory } from './read-prompt.ts';

/**
 * The reply of an error analyst. Each failing topic whose rule the skill does not state gets an edit, the most frequent first,
 * supported by its trajectories. A failure in spite of the right rule is a slip: it is worth a reminder at most.
 */
export function readFailures(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { skill, limit, trajectories, mode } = prompt;
  const stated = readRules(skill);
  const lessons = trajectories.flatMap((block) => readTrajectory(block) ?? []);
  const isSlip = ({ reading, wanted }: Lesson) => stated.get(reading.topic.name)?.variant === wanted;
  const groups = groupBy(
    lessons.filter((lesson) => !isSlip(lesson)),
    ({ reading }) => reading.topic,
  ).sort((a, b) => b.length - a.length);
  const context = contextOf(prompt, lessons);
  const habits = warned(character, character.metaGain, context.experience);
  const guided = readRules(readBlock(skill, 'slowUpdate'));
  const proposed = groups.flatMap((group) => {
    const lesson = group[0]!;
    const { name } = lesson.reading.topic;
    if (guided.has(name)) return []; // edits there are dropped: that is for the end of the epoch
    const changes = proposeChanges({ ...context, lesson }, habits, mistakesFor(name, character, draw));
    return changes.map((change) => ({ ...change, support_count: group.length }));
  });
  const changes = proposed.slice(0, limit);
  return {
    batch_size: trajectories.length,
    failure_summary: groups.map(summarize),
    patch: { reasoning: 'The references follow rules that the skill does not state.', ...inMode(mode, skill, changes) },
    ...(prompt.wantsReminders ? { appendix_notes: remind(lessons.filter(isSlip), stated) } : {}),
  };
}

const contextOf = (prompt: OptimizerPrompt, lessons: readonly Lesson[]) => ({
  skill: prompt.skill,
  rules: readRules(prompt.skill),
  failing: new Set(lessons.map(({ reading }) => reading.topic)),
  experience: readExperience(prompt),
});

function summarize(group: readonly Lesson[]) {
  const { reading, reference, predicted } = group[0]!;
  const description = `Wrote "${predicted}" where "${reference}" was wanted.`;
  const task_ids = group.map(({ id }) => id);
  return { failure_type: reading.topic.name, count: group.length, description, task_ids };
}

function remind(slips: readonly Lesson[], stated: StatedRules): string[] {
  const topics = slips.map(({ reading }) => reading.topic.name).filter((topic) => stated.has(topic));
  return [...new Set(topics)].map((topic) => reminderOf([topic]));
}

/** The reply of a success analyst: what went well, and seldom a remark that changes no answer. */
export function readSuccesses(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { trajectories, limit, mode, skill } = prompt;
  const experience = readExperience(prompt);
  const { precision } = warned(character, character.metaGain, experience);
  const topics = new Set(trajectories.flatMap((block) => readTrajectory(block)?.reading.topic.name ?? []));
  const remark = drawRemark(draw);
  const isSilent = draw('praise') < precision || experience.tried.has(remark);
  const changes = isSilent ? [] : [append(remark)];
  return {
    batch_size: trajectories.length,
    success_patterns: [...topics].map((topic) => `The answers about ${topic} followed the house style.`),
    patch: { reasoning: 'What works is left alone.', ...inMode(mode, skill, changes.slice(0, limit)) },
    ...(prompt.wantsReminders ? { appendix_notes: [] } : {}),
  };
}

/**
 * The reply to the end of an epoch: a rule for each topic that fails now, regressions first, and what the guidance so far says
 * on the others. Who sees both attempts at a task is less often wrong.
 */
export function writeGuidance(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { regressed, persistent } = readComparison(prompt.comparison);
  const failing = [...regressed, ...persistent];
  const { rules: stated, ...context } = contextOf(prompt, failing);
  const news = failing.filter(({ reading, wanted }) => stated.get(reading.topic.name)?.variant !== wanted);
  const contradicted = new Set(news.map(({ reading }) => reading.topic.name));
  const carried = [...readRules(prompt.guidance).values()].filter(({ topic }) => !contradicted.has(topic.name));
  const habits = better(character, character.slowGain);
  const rules = new Map([...stated].filter(([, { topic }]) => !context.failing.has(topic)));
  const added = groupBy(news, ({ reading }) => reading.topic).flatMap((group) => {
    const lesson = group[0]!;
    if (!lesson.wanted) return []; // a block cannot take back what the body says
    const mistakes = mistakesFor(lesson.reading.topic.name, character, draw);
    return [proposeChange({ ...context, rules, lesson }, habits, mistakes).content];
  });
  const lines = [...carried.map(({ sentence }) => `- ${sentence}`), ...added];
  return {
    reasoning: `${regressed.length} tasks got worse, ${persistent.length} fail as before.`,
    slow_update_content: [...new Set(lines)].join('\n'),
  };
}

const MOST_TRIED = 8;

/** The optimizer's memory: which kinds of edits helped or hurt, and what was tried without success, added to the memory so far. */
export function writeMetaNotes(prompt: OptimizerPrompt): object {
  const { notes, comparison, steps } = prompt;
  const { regressed, persistent, improved } = readComparison(comparison);
  const past = readSteps(steps);
  const rejected = past.flatMap((step) => step.rejected);
  const isRemark = (change: Change) => change.op !== 'delete' && topicOf(change) === undefined;
  const shown = {
    remarks: persistent.length > 0 && (addsRemarks(prompt) || rejected.some(isRemark)),
    reference: regressed.length > 0 || past.some((step) => guessesOf(step).length > 0),
    rules: improved.length > 0,
  };
  const lessons = (Object.keys(LESSONS) as (keyof typeof LESSONS)[]).flatMap((name) =>
    shown[name] || notes.includes(LESSONS[name]) ? [`- ${LESSONS[name]}`] : [],
  );
  const vain = [
    ...readTried(notes),
    ...past.flatMap(guessesOf).map(sayingOf),
    ...rejected.filter(isRemark).map(sayingOf),
  ];
  return {
    reasoning: `${improved.length} tasks got better and ${regressed.length} worse; ${rejected.length} edits were rejected.`,
    meta_skill_content: [...lessons, ...[...new Set(vain)].slice(-MOST_TRIED).map(writeTried)].join('\n'),
  };
}

/** Rejected rules on topics that had not failed must have been guesses. */
function guessesOf({ rejected, failing }: PastStep): Change[] {
  return rejected.filter((change) => {
    const topic = topicOf(change);
    return topic !== undefined && !failing.has(topic);
  });
}

function addsRemarks({ skill, previousSkill }: OptimizerPrompt): boolean {
  const added = linesBeyond(skill, previousSkill).filter((line) => line.startsWith('- '));
  return added.some((content) => topicOf({ op: 'append', target: '', content }) === undefined);
}
