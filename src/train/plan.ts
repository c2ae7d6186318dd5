import type { SkillOptConfig } from '../core/config.ts';
import type { Item } from '../core/env.ts';
import { chunk, shuffle } from '../core/random.ts';
import { buildScheduler } from '../core/schedule.ts';

export type Step = {
  /** Counts from 1 over the whole run. */
  readonly step: number;
  readonly epoch: number;
  readonly stepInEpoch: number;
  readonly editBudget: number;
  readonly seed: number;
  readonly items: readonly Item[];
};

type PlanConfig = Pick<
  SkillOptConfig,
  'batchSize' | 'numEpochs' | 'seed' | 'editBudget' | 'minEditBudget' | 'lrScheduler'
>;

export function countSteps({ batchSize, numEpochs }: PlanConfig, itemCount: number): number {
  return numEpochs * Math.ceil(itemCount / batchSize);
}

/**
 * Every step after the first `done`, in order. A function of the config and the items alone, so that a resumed
 * run meets the batches, seeds and budgets that it would have met.
 */
export function* remainingSteps(config: PlanConfig, items: readonly Item[], done: number): Generator<Step> {
  const totalSteps = countSteps(config, items.length);
  const { getLr } = buildScheduler({
    mode: config.lrScheduler,
    maxLr: config.editBudget,
    minLr: config.minEditBudget,
    totalSteps,
  });
  const perEpoch = totalSteps / config.numEpochs;
  for (let step = done + 1; step <= totalSteps; step++) {
    const epoch = Math.ceil(step / perEpoch);
    const stepInEpoch = step - (epoch - 1) * perEpoch;
    const epochSeed = config.seed + epoch * 1000;
    const batch = chunk(shuffle(items, epochSeed), config.batchSize)[stepInEpoch - 1]!;
    yield { step, epoch, stepInEpoch, editBudget: getLr(step), seed: epochSeed + stepInEpoch, items: batch };
  }
}
