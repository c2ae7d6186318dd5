import { type Evidence, itemMean } from './evidence.ts';
import { DEFAULT_CONFIDENCE, type Estimate, estimateGain } from './final-report.ts';

/** Two skills by their attempts at the same tasks. */
export type PairedComparison = {
  /** Tasks that both have a score for. */
  readonly tasks: number;
  readonly before: number;
  readonly after: number;
  readonly gain: Estimate;
  /** The whole interval of the gain is above 0. */
  readonly isProven: boolean;
  /** The whole interval of the gain is below 0. */
  readonly isWorse: boolean;
  /** Tasks that failed and now pass, and the reverse. */
  readonly gained: readonly string[];
  readonly lost: readonly string[];
};

/** `undefined` when no task has a score on both sides. */
export function comparePaired(
  before: Evidence,
  after: Evidence,
  confidence = DEFAULT_CONFIDENCE,
): PairedComparison | undefined {
  const [old, young] = paired(before, after);
  const gain = estimateGain(young, old, confidence);
  if (gain === undefined) return undefined;
  return {
    tasks: old.size,
    before: meanOf(old),
    after: meanOf(young),
    gain,
    isProven: gain.interval.low > 0,
    isWorse: gain.interval.high < 0,
    ...flips(old, young),
  };
}

const meanOf = (evidence: Evidence) =>
  [...evidence.values()].reduce((sum, item) => sum + itemMean(item), 0) / evidence.size;

/** The tasks that both sides have a score for. */
export function paired(before: Evidence, after: Evidence): [before: Evidence, after: Evidence] {
  const common = (one: Evidence, other: Evidence) => new Map([...one].filter(([id]) => other.has(id)));
  return [common(before, after), common(after, before)];
}

/** A task passes from this mean on. */
export const PASS_MARK = 0.5;

export function flips(before: Evidence, after: Evidence): Pick<PairedComparison, 'gained' | 'lost'> {
  const passes = (evidence: Evidence, id: string) => itemMean(evidence.get(id)!) >= PASS_MARK;
  const ids = [...before.keys()];
  return {
    gained: ids.filter((id) => !passes(before, id) && passes(after, id)),
    lost: ids.filter((id) => passes(before, id) && !passes(after, id)),
  };
}
