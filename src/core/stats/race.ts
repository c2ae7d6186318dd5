import { type Evidence, isMissing, itemMean, type NoiseModel } from './evidence.ts';

/** How a race is run. It is chosen for gain over a run, not for significance: that belongs to the claim. */
export type RaceSettings = {
  /** Share of the items in the first wave; the second has the rest. */
  readonly firstWave: number;
  /** What one more rollout must be expected to bring, in items, to be worth its price. */
  readonly price: number;
  /** Whether a candidate that stays in doubt may be rolled out on all items once more. */
  readonly hasSecondPass: boolean;
};

export type SettingsInput = {
  /** Validation items. */
  readonly n: number;
  /** Training tasks that a proposal costs, if none of their rollouts is known. */
  readonly batchSize: number;
  /** What a candidate of which nothing is known is expected to gain where it gains: `weigh` with no rollouts. */
  readonly upside: number;
  readonly hasSecondPass?: boolean;
};

/** Training tasks of a step, unless a config says otherwise. */
export const DEFAULT_BATCH_SIZE = 40;

const FIRST_WAVE = 0.4;
/** Of a candidate's cost: most races end early, every second batch is known, and the optimizer is not free either. */
const [SHARE_MET, SHARE_OF_BATCH, OPTIMIZER_WORTH] = [0.7, 0.5, 15];
const PRICE_SHARE = 0.7;

/** A rollout should bring what it would bring in the next candidate. */
export function raceSettings({ n, batchSize, upside, hasSecondPass = true }: SettingsInput): RaceSettings {
  const next = SHARE_MET * n + SHARE_OF_BATCH * batchSize + OPTIMIZER_WORTH;
  return { firstWave: FIRST_WAVE, price: (PRICE_SHARE * upside) / next, hasSecondPass };
}

/** How many items have been met at the end of each wave. Rising, the last is `n`; no items, no waves. */
export function planWaves(
  n: number,
  { firstWave }: Pick<RaceSettings, 'firstWave'> = { firstWave: FIRST_WAVE },
): number[] {
  const first = Math.min(n, Math.max(2, Math.ceil(firstWave * n - 1e-9)));
  return [...new Set([first, n])].filter((end) => end > 0);
}

/** What a winner needs, in items. Where scores hardly vary less will do: then there is hardly any luck. */
export type Bar = { readonly gain: number; readonly lead: number };

/** Of sets larger than this a winner needs a share, not an item. */
const USUAL_SIZE = 40;

export function barFor({ kind, within }: Pick<NoiseModel, 'kind' | 'within'>, n: number): Bar {
  const item = kind === 'binary' ? 1 : Math.min(1, 4 * Math.sqrt(within));
  const lead = item * Math.max(1, n / USUAL_SIZE);
  return { lead, gain: 0.4 * lead };
}

/**
 * The order in which a candidate meets the items: in turns the hardest and the easiest that are left, so that those the
 * current skill wins half of the time come last. A steady item that changes says much, one that wavers says little. Equals
 * keep their order, so shuffle the items first.
 */
export function raceOrder(items: readonly string[], rateOf: (id: string) => number): string[] {
  const rated = items.map((id) => ({ id, rate: rateOf(id) })).sort((a, b) => a.rate - b.rate);
  const half = Math.ceil(rated.length / 2);
  return rated.slice(0, half).flatMap(({ id }, place) => {
    const other = rated.length - 1 - place;
    return other > place ? [id, rated[other]!.id] : [id];
  });
}

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
