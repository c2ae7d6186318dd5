export type AdaptiveLimitOptions = {
  /** Calls in flight to begin with. */
  readonly initial?: number;
  readonly max?: number;
  /** What is left of the limit after an episode of refusals. */
  readonly cut?: number;
};

/** How many calls a provider takes at once, as far as its answers have told. */
export interface AdaptiveLimit {
  /** Whole calls, never fewer than one. */
  readonly calls: number;
  /** Raises the limit, for a call that was answered while the limit was reached. */
  raise(): void;
  /** Cuts the limit, once for each episode of refusals. */
  cut(): void;
}

/**
 * Additive increase, multiplicative decrease. The limit doubles with each round of calls until the first cut, and grows
 * by half a call per round from then on: slow enough that a provider refuses about one call in eighty.
 */
export function createAdaptiveLimit(options: AdaptiveLimitOptions = {}): AdaptiveLimit {
  const { initial = 8, max = 256, cut = 0.9 } = options;
  let limit = Math.min(initial, max);
  let isFirstClimb = true;
  return {
    get calls() {
      return Math.max(1, Math.floor(limit));
    },
    raise() {
      limit = Math.min(max, limit + (isFirstClimb ? 1 : 0.5 / limit));
    },
    cut() {
      limit = Math.max(1, limit * cut);
      isFirstClimb = false;
    },
  };
}
