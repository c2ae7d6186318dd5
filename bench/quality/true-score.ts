import type { World } from '../../src/sim/index.ts';
import { TOPICS } from '../../src/sim/world/topics.ts';
import { readRules, remindedTopics } from '../../src/sim/world/world.ts';

/**
 * The share of tasks that the simulated target answers rightly under a skill, each asked without end. No sample: the world's
 * truth, the target's way of reading and its rate of slips are known. `topics` has one name for each task.
 */
export function trueScore(skill: string, { rules }: World, noise: number, topics: readonly string[]): number {
  const stated = readRules(skill);
  const reminded = remindedTopics(skill);
  const chances = topics.map((name) => {
    const truth = rules.find(({ topic }) => topic === name)?.text;
    const slipRate = reminded.has(name) ? noise / 2 : noise;
    const styles = 1 + TOPICS.find((topic) => topic.name === name)!.variants.length;
    return stated.get(name)?.variant.rule === truth ? 1 - slipRate : slipRate / (styles - 1);
  });
  return chances.reduce((sum, chance) => sum + chance, 0) / topics.length;
}

/** One task of every kind: what an endless test split comes to. */
export function everyTopic({ items }: World): string[] {
  return [...new Set(items.train.map(({ taskType }) => taskType))];
}
