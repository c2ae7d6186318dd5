import { roundHalfToEven } from '../text/index.ts';
import { SkillError } from './errors.ts';

export const LR_SCHEDULER_MODES = ['constant', 'linear', 'cosine', 'autonomous'] as const;
/** How the edit budget, the textual learning rate, changes over a run. */
export type LRSchedulerMode = (typeof LR_SCHEDULER_MODES)[number];

type SchedulerOptions = { mode?: LRSchedulerMode; maxLr?: number; minLr?: number; totalSteps?: number };

/** Gives the edit budget of each step. Steps count from 1; after the last step the budget stays. */
export interface LRScheduler {
  /** Moves on by one step and answers with its budget. */
  step(): number;
  /** The budget of any step, without moving. */
  getLr(step: number): number;
  stateDict(): { currentStep: number };
  loadStateDict(state: { currentStep?: number }): void;
}

/** The budget of a schedule that leaves the number of edits to the optimizer. */
const UNLIMITED = 999;

const decays: Record<LRSchedulerMode, (max: number, min: number, progress: number) => number> = {
  constant: (max) => max,
  linear: (max, min, progress) => max + (min - max) * progress,
  autonomous: () => UNLIMITED,
  cosine: (max, min, progress) => min + 0.5 * (max - min) * (1 + Math.cos(Math.PI * progress)),
};

/** A scheduler that decays from `maxLr` to `minLr` over `totalSteps`, rounded as the reference rounds. */
export function buildScheduler({
  mode = 'cosine',
  maxLr = 4,
  minLr = 2,
  totalSteps = 8,
}: SchedulerOptions = {}): LRScheduler {
  if (!Object.hasOwn(decays, mode)) {
    throw new SkillError(
      'CONFIG_INVALID',
      `lrScheduler must be one of ${LR_SCHEDULER_MODES.join(', ')}, got "${mode}"`,
    );
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
