import { createDraw } from '../../../src/sim/draw.ts';
import { readQuestion } from '../../../src/sim/topics.ts';
import type { World, WorldItem } from '../../../src/sim/world.ts';
import { everyTopic, trueScore } from '../true-score.ts';
import { NOISE } from './setting.ts';

export type Truth = { onValidation(skill: string): number; onNewTasks(skill: string): number };

/** Scores by infinitely many rollouts. In the null world they are the same for every skill. */
export function truthOf(world: World, { seed, isNull }: { seed: number; isNull: boolean }): Truth {
  const { val } = world.items;
  if (isNull) {
    const score = val.reduce((sum, item) => sum + nullChance(item, seed), 0) / val.length;
    return { onValidation: () => score, onNewTasks: () => score };
  }
  const topics = { val: val.map(({ taskType }) => taskType), all: everyTopic(world) };
  return {
    onValidation: (skill) => trueScore(skill, world, NOISE, topics.val),
    onNewTasks: (skill) => trueScore(skill, world, NOISE, topics.all),
  };
}

/** The odds that the target in null mode gives to the right answer. */
function nullChance({ question, answers }: WorldItem, seed: number): number {
  const reading = readQuestion(question)!;
  const odds = createDraw(seed, ['odds', `Question: ${question}`]);
  const weights = [undefined, ...reading.topic.variants].map((style, place) => ({
    isRight: answers.includes(reading.answer(style)),
    weight: -Math.log(1 - odds(`style ${place}`)),
  }));
  const total = (wanted: typeof weights) => wanted.reduce((sum, { weight }) => sum + weight, 0);
  return total(weights.filter(({ isRight }) => isRight)) / total(weights);
}
