import { mean } from '../interval.ts';
import { type Reading, readSkill } from './sentences.ts';
import type { RulesWorld, Task } from './world.ts';

/** What is left of a spoiled task's chance. */
const SPOILED = 0.1;

/** The chance that a task succeeds under a skill. */
export function chanceOf(task: Task, { stated, harms }: Reading, { nullMode, noise, spoiledBy }: RulesWorld): number {
  if (nullMode) return task.odds;
  const chance = task.needs.every((word) => stated.has(word)) ? 1 - noise : task.luck;
  return harms.some((harm) => spoiledBy(harm).has(task.id)) ? SPOILED * chance : chance;
}

/** The mean of infinitely many rollouts: no sample, since every chance is known. */
export function trueScore(skill: string, world: RulesWorld, tasks: readonly Task[] = world.tasks.val): number {
  const reading = readSkill(skill);
  return mean(tasks.map((task) => chanceOf(task, reading, world)));
}
