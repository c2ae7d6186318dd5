import { addUsage, noStageUsage, type StageUsage } from '../../core/run/index.ts';

/** Adds up what model calls cost, by stage. */
export interface Meter {
  add(stage: string, amounts: Partial<StageUsage>): void;
  /** What came in since the last `take`, by stage. Counting starts again at zero. */
  take(): Record<string, StageUsage>;
}

export function createMeter(): Meter {
  let stages = new Map<string, StageUsage>();
  return {
    add(stage, amounts) {
      stages.set(stage, addUsage(stages.get(stage) ?? noStageUsage, amounts));
    },
    take() {
      const taken = Object.fromEntries(stages);
      stages = new Map();
      return taken;
    },
  };
}
