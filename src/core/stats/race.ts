import { type Evidence, isMissing, itemMean, type NoiseModel } from './evidence.ts';

/** How a race is run: chosen for gain over a run, not for significance. */
export type RaceSettings = {
  readonly firstWave: number;
  /** The gain, in items, that one more rollout must be expected to bring. */
  readonly price: number;
  /** Whether a candidate that stays in doubt may be rolled out on all items once more. */
  readonly hasSecondPass: boolean;
};

export type SettingsInput = {
  readonly n: number;
  readonly batchSize: number;
  /** The gain to expect of an unknown candidate that gains: `weigh` with no rollouts. */
  readonly upside: number;
  readonly hasSecondPass?: boolean;
};

export const DEFAULT_BATCH_SIZE = 40;

const FIRST_WAVE = 0.4;
/** Parts of a candidate's cost: most races end early, every second batch is known, and the optimizer is not free. */
const [SHARE_MET, SHARE_OF_BATCH, OPTIMIZER_WORTH] = [0.7, 0.5, 15];
const PRICE_SHARE = 0.7;

/** A rollout should bring as much as it would for the next candidate. */
export function raceSettings({ n, batchSize, upside, hasSecondPass = true }: SettingsInput): RaceSettings {
  const next = SHARE_MET * n + SHARE_OF_BATCH * batchSize + OPTIMIZER_WORTH;
  return { firstWave: FIRST_WAVE, price: (PRICE_SHARE * upside) / next, hasSecondPass };
}

/** How many items have been met at the end of each wave. No items, no waves. */
export function planWaves(
  n: number,
  { firstWave }: Pick<RaceSettings, 'firstWave'> = { firstWave: FIRST_WAVE },
): number[] {
  const first = Math.min(n, Math.max(2, Math.ceil(firstWave * n - 1e-9)));
  return [...new Set([first, n])].filter((end) => end > 0);
}

/** What a winner needs, in items. It is less where scores hardly vary. */
export type Bar = { readonly gain: number; readonly lead: number };

/** A winner needs a share of the tasks: one of forty, and on the smallest sets a little more. */
const USUAL_SIZE = 40;
const LEAST_LEAD = 0.3;

export function barFor({ kind, within }: Pick<NoiseModel, 'kind' | 'within'>, n: number, leastLead = LEAST_LEAD): Bar {
  const item = kind === 'binary' ? 1 : Math.min(1, 4 * Math.sqrt(within));
  const lead = item * Math.max(leastLead, n / USUAL_SIZE);
  return { lead, gain: 0.4 * lead };
}

/**
 * The hardest and the easiest items in turns, so that those that waver come last: a steady item that changes says much.
 * Equals keep their order, so shuffle the items first.
 */
export function raceOrder(items: readonly string[], rateOf: (id: string) => number): string[] {
  const rated = items.map((id) => ({ id, rate: rateOf(id) })).sort((a, b) => a.rate - b.rate);
  const half = Math.ceil(rated.length / 2);
  return rated.slice(0, half).flatMap(({ id }, place) => {
    const other = rated.length - 1 - place;
    return other > place ? [id, rated[other]!.id] : [id];
  });
}

/** Items with the lowest pass rate first; items never seen come before all. Equals keep their order. */
export function hardestFirst(items: readonly string[], seen: Evidence): string[] {
  const rate = new Map(items.map((id) => [id, seen.has(id) ? itemMean(seen.get(id)!) : -1]));
  return [...items].sort((a, b) => rate.get(a)! - rate.get(b)!);
}

export type ExactRaceInput = {
  /** The score that must be beaten. A tie loses. */
  readonly bar: number;
  readonly finished: readonly (number | null)[];
  readonly remaining: number;
  /** The score is a plain mean of these, not a mixture of two means. Then whole scores need no guard. */
  readonly isPlainMean?: boolean;
};

export type ExactRace = {
  /** `must-win` needs the rest all the same: the next candidate has to beat a score, not a bound. */
  readonly state: 'continue' | 'cannot-win' | 'must-win' | 'complete';
  /** What a full pass can still give. A partial pass has no score. */
  readonly upperBound: number;
  readonly lowerBound: number;
};

/** Sums of the same scores in another order differ by less than this. Sums of zeros and ones are exact in any order. */
const FLOAT_GUARD = 1e-9;

/** Whether a full pass is decided already. Errored rollouts leave the mean, as in the strict gate; the bounds allow for more of them. */
export function exactRace({ bar, finished, remaining, isPlainMean = false }: ExactRaceInput): ExactRace {
  const scores = finished.filter((score) => !isMissing(score));
  const sum = scores.reduce((total, score) => total + score, 0);
  const isWhole = isPlainMean && scores.every(Number.isInteger);
  const most = scores.length + remaining;
  const upperBound = most === 0 ? 0 : (sum + remaining) / most;
  const lowerBound = most === 0 ? 0 : sum / most;
  const isLost = isWhole ? upperBound <= bar : upperBound < bar - FLOAT_GUARD;
  const open = isLost ? 'cannot-win' : lowerBound > bar + FLOAT_GUARD ? 'must-win' : 'continue';
  return { state: remaining === 0 ? 'complete' : open, upperBound, lowerBound };
}

export type StartableInput = Omit<ExactRaceInput, 'remaining'> & {
  readonly inFlight: number;
  readonly waiting: number;
  readonly limit: number;
};

/** How many items to start now so that none is paid for in vain: one more only if the race stays open should all items in flight fail. */
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
