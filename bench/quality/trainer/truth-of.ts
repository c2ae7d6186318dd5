import { createDraw } from '../../../src/sim/draw.ts';
import type { World, WorldItem } from '../../../src/sim/index.ts';
import { readQuestion } from '../../../src/sim/world/world.ts';
import { mean } from '../interval.ts';
import { trueScore } from '../true-score.ts';

type Setting = { readonly seed: number; readonly isNull: boolean; readonly noise: number };

/** Scores in the trainer's own world, by infinitely many rollouts. In the null world they are the same for every skill. */
export function truthOf(world: World, { seed, isNull, noise }: Setting): (skill: string) => number {
  const { val } = world.items;
  if (isNull) {
    const score = mean(val.map((item) => nullChance(item, seed)));
    return () => score;
  }
  const topics = val.map(({ taskType }) => taskType);
  return (skill) => trueScore(skill, world, noise, topics);
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
