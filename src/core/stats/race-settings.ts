import type { NoiseModel } from './noise-model.ts';

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
