import { type Evidence, isMissing, itemMean } from './evidence.ts';

/** Items with the lowest seen pass rate first; items never seen come before all. The order of equals is kept. */
export function hardestFirst(items: readonly string[], seen: Evidence): string[] {
  const rate = new Map(items.map((id) => [id, seen.has(id) ? itemMean(seen.get(id)!) : -1]));
  return [...items].sort((a, b) => rate.get(a)! - rate.get(b)!);
}

export type ExactRaceInput = {
  /** The score that must be beaten. A tie loses. */
  readonly bar: number;
  /** The gate's score of every finished item; `null` for a rollout that errored. */
  readonly finished: readonly (number | null)[];
  /** Items not finished yet, those in flight included. */
  readonly remaining: number;
  /** The gate's score is the plain mean of these (not a mixture of two means). Then whole scores need no guard. */
  readonly isPlainMean?: boolean;
};

export type ExactRace = {
  /** `must-win` needs the rest of the items all the same: the next candidate has to beat a score, not a bound. */
  readonly state: 'continue' | 'cannot-win' | 'must-win' | 'complete';
  /** The most and the least that a full pass can still give. A partial pass has no score. */
  readonly upperBound: number;
  readonly lowerBound: number;
};

/**
 * Sums of the same scores in another order differ by less. Closer than this, the race continues to the end. Sums of zeros and
 * ones are exact in any order, and rounding keeps the order of sums and quotients: with them a tie is a tie.
 */
const FLOAT_GUARD = 1e-9;

/**
 * Whether a full pass is decided already. Errored rollouts have no score and leave the mean, as in the strict gate; the
 * bounds allow for any of the remaining ones to error too.
 */
export function exactRace({ bar, finished, remaining, isPlainMean = false }: ExactRaceInput): ExactRace {
  let sum = 0;
  let scored = 0;
  let isWhole = isPlainMean;
  for (const score of finished) {
    if (isMissing(score)) continue;
    sum += score;
    scored += 1;
    isWhole &&= Number.isInteger(score);
  }
  const most = scored + remaining;
  const upperBound = most === 0 ? 0 : (sum + remaining) / most;
  const lowerBound = most === 0 ? 0 : sum / most;
  const guard = isWhole ? 0 : FLOAT_GUARD;
  return { state: stateOf({ bar, remaining, upperBound, lowerBound, guard }), upperBound, lowerBound };
}

type Bounds = { bar: number; remaining: number; upperBound: number; lowerBound: number; guard: number };

function stateOf({ bar, remaining, upperBound, lowerBound, guard }: Bounds): ExactRace['state'] {
  if (remaining === 0) return 'complete';
  if (guard === 0 ? upperBound <= bar : upperBound < bar - guard) return 'cannot-win';
  return lowerBound > bar + FLOAT_GUARD ? 'must-win' : 'continue';
}

export type StartableInput = Omit<ExactRaceInput, 'remaining'> & {
  readonly inFlight: number;
  /** Items not started yet. */
  readonly waiting: number;
  /** The most that may be in flight. */
  readonly limit: number;
};

/**
 * How many items to start now so that none is paid for in vain: one more only if the race would still be open with every
 * item in flight failed. While there is room for failures that is the limit; near the end it narrows down to one.
 */
export function startable({ inFlight, waiting, limit, ...race }: StartableInput): number {
  let count = 0;
  while (count < waiting && inFlight + count < limit) {
    const failed = Array.from({ length: inFlight + count }, () => 0);
    const { state } = exactRace({ ...race, finished: [...race.finished, ...failed], remaining: waiting - count });
    if (state === 'cannot-win') break;
    count += 1;
  }
  return count;
}
