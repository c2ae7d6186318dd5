import type { SimulatedOptimizerOptions } from '../../../src/public/sim.ts';

/** Worlds that drafting and checking were tuned in, and those that they are judged in. Fixed before either was written. */
export const TUNING = { from: 1, seeds: 10 } as const;
export const JUDGING = { from: 1001, seeds: 20 } as const;

/** How many tasks are drafted, and how many true ones they are compared with. */
export const TASKS = 40;

/** A fifth of its references are wrong, a fifth of its tasks repeat one that is there, a fifth of its own answers are wrong. */
export const DRAFTER: SimulatedOptimizerOptions = {
  draftErrorRate: 0.2,
  draftRepeatRate: 0.2,
  solveErrorRate: 0.2,
};

/** Of all tasks that were asked for, this share must be valid and distinct in the end. */
export const LEAST_GOOD = 0.9;
/** And of what true tasks gain, this share. */
export const LEAST_GAIN = 0.7;
