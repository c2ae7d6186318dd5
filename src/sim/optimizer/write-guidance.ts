import { groupBy } from '../../core/text/index.ts';
import type { Draw } from '../draw.ts';
import { readRules } from '../world/read-rules.ts';
import { better, type Character, mistakesFor } from './character.ts';
import { readExperience } from './experience.ts';
import { proposeChange } from './propose-changes.ts';
import { readComparison } from './read-comparison.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import type { Lesson } from './read-trajectory.ts';

/**
 * The reply to the end of an epoch: guidance with a rule for each topic that fails now, regressions first, and what the
 * guidance so far says on the others. An analyst that sees both attempts at a task is less often wrong than one that sees a single attempt.
 */
export function writeGuidance(prompt: OptimizerPrompt, character: Character, draw: Draw): object {
  const { regressed, persistent } = readComparison(prompt.comparison);
  const failing = [...regressed, ...persistent];
  const rules = readRules(prompt.skill);
  const news = failing.filter(({ reading, wanted }) => rules.get(reading.topic.name)?.variant !== wanted);
  const contradicted = new Set(news.map(({ reading }) => reading.topic.name));
  const carried = [...readRules(prompt.guidance).values()].filter(({ topic }) => !contradicted.has(topic.name));
  const lines = [
    ...carried.map(({ sentence }) => `- ${sentence}`),
    ...newLines(news, failing, prompt, character, draw),
  ];
  return {
    reasoning: `${regressed.length} tasks got worse, ${persistent.length} fail as before.`,
    slow_update_content: [...new Set(lines)].join('\n'),
  };
}

function newLines(
  news: readonly Lesson[],
  lessons: readonly Lesson[],
  prompt: OptimizerPrompt,
  character: Character,
  draw: Draw,
): string[] {
  const habits = better(character, character.slowGain);
  const failing = new Set(lessons.map(({ reading }) => reading.topic));
  const context = { skill: prompt.skill, failing, experience: readExperience(prompt) };
  const rules = new Map([...readRules(prompt.skill)].filter(([, { topic }]) => !failing.has(topic)));
  return groupBy(news, ({ reading }) => reading.topic).flatMap(([lesson]) => {
    if (!lesson!.wanted) return []; // a block cannot take back what the body says
    const evidence = { ...context, rules, lesson: lesson! };
    return [proposeChange(evidence, habits, mistakesFor(lesson!.reading.topic.name, character, draw)).content];
  });
}
