import type { StageUsage } from '../../core/event.ts';

/** Adds up what model calls cost, by stage. */
export interface Meter {
  add(stage: string, amounts: Partial<StageUsage>): void;
  /** What came in since the last `take`, by stage. Counting starts again at zero. */
  take(): Record<string, StageUsage>;
}

const nothing: StageUsage = { input: 0, cached: 0, output: 0, reasoning: 0, replies: 0, cacheHits: 0, retries: 0 };
const counters = Object.keys(nothing) as (keyof StageUsage)[];

export function createMeter(): Meter {
  let stages = new Map<string, StageUsage>();
  return {
    add(stage, amounts) {
      stages.set(stage, addAmounts(stages.get(stage) ?? nothing, amounts));
    },
    take() {
      const taken = Object.fromEntries(stages);
      stages = new Map();
      return taken;
    },
  };
}

function addAmounts(sum: StageUsage, amounts: Partial<StageUsage>): StageUsage {
  const next = { ...sum } as { -readonly [Counter in keyof StageUsage]: number };
  for (const counter of counters) next[counter] += amounts[counter] ?? 0;
  return next;
}
