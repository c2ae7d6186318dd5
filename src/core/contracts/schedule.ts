import { roundHalfToEven } from '../text/index.ts';
import { SkillError } from './errors.ts';

export const LR_SCHEDULER_MODES = ['constant', 'linear', 'cosine', 'autonomous'] as const;
/** How the edit budget, the textual learning rate, changes over a run. */
export type LRSchedulerMode = (typeof LR_SCHEDULER_MODES)[number];

/** Gives the edit budget of each step. Steps count from 1; after the last step the budget stays. */
export interface LRScheduler {
  step(): number;
  getLr(step: number): number;
  stateDict(): { currentStep: number };
  loadStateDict(state: { currentStep?: number }): void;
}

/** The budget of a schedule that leaves the number of edits to the optimizer. */
const UNLIMITED = 999;

const decays: Record<LRSchedulerMode, (max: number, min: number, progress: number) => number> = {
  constant: (max) => max,
  autonomous: () => UNLIMITED,
  linear: (max, min, progress) => max + (min - max) * progress,
  cosine: (max, min, progress) => min + 0.5 * (max - min) * (1 + Math.cos(Math.PI * progress)),
};

/** A scheduler that decays from `maxLr` to `minLr` over `totalSteps`, rounded as the reference rounds. */
export function buildScheduler(
  options: { mode?: LRSchedulerMode; maxLr?: number; minLr?: number; totalSteps?: number } = {},
): LRScheduler {
  const { mode = 'cosine', maxLr = 4, minLr = 2, totalSteps = 8 } = options;
  if (!Object.hasOwn(decays, mode)) {
    const known = LR_SCHEDULER_MODES.join(', ');
    throw new SkillError('CONFIG_INVALID', `lrScheduler must be one of ${known}, got "${mode}"`);
  }
  let currentStep = 0;
  const getLr = (step: number) => {
    if (mode === 'autonomous') return UNLIMITED;
    if (mode === 'constant' || totalSteps <= 1) return maxLr;
    return Math.max(minLr, roundHalfToEven(decays[mode](maxLr, minLr, Math.min(step, totalSteps) / totalSteps)));
  };
  return {
    step: () => getLr(++currentStep),
    getLr,
    stateDict: () => ({ currentStep }),
    loadStateDict(state) {
      currentStep = state.currentStep ?? 0;
    },
  };
}
