import type { SkillOptConfigInput } from '../../../src/index.ts';

/** Twelve topics, eight of them with a rule to learn; three validation tasks to a topic, so that the gate is noisy. */
export const WORLD = { train: 48, val: 36, test: 0 } as const;

/** One answer in twenty is a slip, whatever the skill says: no skill scores above 95. */
export const TARGET = { noise: 0.05 } as const;

/**
 * `reader`: the optimizer of the demo, wrong in more than half of its edits (0.3 harm; of the rest 0.4 say nothing), and half
 * of its mistakes are habits that come again on similar prompts, as they do with models at low temperature.
 * `control`: the same without habits, and notes or comparisons make it no wiser: what memory costs when it gives nothing.
 */
export const OPTIMIZERS = {
  reader: { precision: 0.6, harmfulRate: 0.3, stubbornness: 0.5, metaGain: 0.5, slowGain: 0.5 },
  control: { precision: 0.6, harmfulRate: 0.3, stubbornness: 0, metaGain: 0, slowGain: 0 },
} as const;
export type OptimizerName = keyof typeof OPTIMIZERS;

export function isOptimizerName(name: string): name is OptimizerName {
  return Object.hasOwn(OPTIMIZERS, name);
}

/**
 * Three steps to an epoch, so that a buffer has something to tell. One proposal per batch: with more, everything that there is
 * to learn here is learned, whatever is left out. All parts are on; everything else is as it is by default.
 */
export const SETTINGS: SkillOptConfigInput = {
  batchSize: 16,
  proposalsPerBatch: 1,
  useSlowUpdate: true,
  useMetaSkill: true,
  evalTest: false,
};
