import { readRules } from '../../src/sim/read-rules.ts';
import { remindedTopics } from '../../src/sim/reminders.ts';
import { TOPICS } from '../../src/sim/topics.ts';
import type { World } from '../../src/sim/world.ts';

/**
 * The share of an endless test split that the simulated target answers rightly under a skill. No sample: the world's truth,
 * the target's way of reading and its rate of slips are known, so the mean over all possible tasks can be worked out.
 */
export function expectedScore(skill: string, { items, rules }: World, noise: number): number {
  const stated = readRules(skill);
  const reminded = remindedTopics(skill);
  const names = [...new Set(items.train.map(({ taskType }) => taskType))];
  const chances = names.map((name) => {
    const truth = rules.find(({ topic }) => topic === name)?.text;
    const slipRate = reminded.has(name) ? noise / 2 : noise;
    const styles = 1 + TOPICS.find((topic) => topic.name === name)!.variants.length;
    return stated.get(name)?.variant.rule === truth ? 1 - slipRate : slipRate / (styles - 1);
  });
  return chances.reduce((sum, chance) => sum + chance, 0) / names.length;
}
