import type { SkillOptConfig } from '../core/config.ts';
import type { RunState } from '../core/run-state.ts';
import type { RunItems } from './run-items.ts';

type Sizes = { readonly val: { readonly length: number } };

/** Two passes measure the winner, unless they would take more than an eighth of what there is. */
export function finalPassesOf({ finalPasses, maxRollouts }: SkillOptConfig, { val }: Sizes): number {
  if (finalPasses !== undefined) return finalPasses;
  return maxRollouts !== undefined && 0.12 * maxRollouts < 3 * val.length ? 1 : 2;
}

/** Tasks of the second pass of the seed skill, which tells the noise: all, unless that takes too much of what there is. */
export function secondPassSize(
  { gate, maxRollouts = Number.POSITIVE_INFINITY }: SkillOptConfig,
  { val }: Sizes,
): number {
  if (gate !== 'paired') return 0;
  return Math.max(0, Math.min(val.length, Math.floor(0.15 * maxRollouts) - val.length));
}

/** What the search may still spend under `maxRollouts`: the final measurement is kept back. */
export function rolloutsLeft(
  { rollouts }: RunState,
  config: SkillOptConfig,
  items: Pick<RunItems, 'val'>,
): number | undefined {
  if (config.maxRollouts === undefined) return undefined;
  return config.maxRollouts - finalPassesOf(config, items) * items.val.length - rollouts;
}
