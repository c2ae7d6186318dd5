import type { Experience } from './experience.ts';
import type { Habits } from './propose-changes.ts';

/** Habits with a share `gain` of the remarks and of the harm gone. */
export function better(habits: Habits, gain: number, where = { remarks: true, harm: true }): Habits {
  const { precision, harmfulRate } = habits;
  return {
    ...habits,
    precision: where.remarks ? 1 - (1 - precision) * (1 - gain) : precision,
    harmfulRate: where.harm ? harmfulRate * (1 - gain) : harmfulRate,
  };
}

/** Who was warned makes fewer mistakes of that kind. */
export function warned(habits: Habits, metaGain: number, { knowsRemarks, knowsReference }: Experience): Habits {
  return better(habits, metaGain, { remarks: knowsRemarks, harm: knowsReference });
}
