import { knowsNoise, SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';
import type { RunState } from '../../core/run/index.ts';
import type { RunItems } from '../setup/run-items.ts';

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
  if (!knowsNoise(gate)) return 0;
  return Math.max(0, Math.min(val.length, Math.floor(0.15 * maxRollouts) - val.length));
}

/** What the search may still spend under `maxRollouts`: the final measurement is kept back. */
export function rolloutsLeft(
  { rollouts }: Pick<RunState, 'rollouts'>,
  config: SkillOptConfig,
  items: Pick<RunItems, 'val'>,
): number | undefined {
  if (config.maxRollouts === undefined) return undefined;
  return config.maxRollouts - passesKept(config, items) * items.val.length - rollouts;
}

/** The smallest higher limit under which a step of so many attempts follows the baseline. What else is kept back grows with it. */
export function leastRollouts(needed: number, config: SkillOptConfig, items: Pick<RunItems, 'val'>): number {
  const isEnough = (maxRollouts: number) => {
    const limited = { ...config, maxRollouts };
    const rollouts = items.val.length + secondPassSize(limited, items);
    return rolloutsLeft({ rollouts }, limited, items)! >= needed;
  };
  let least = (config.maxRollouts ?? 0) + 1;
  while (!isEnough(least)) least += 1;
  return least;
}

/** Passes that pruning may take of what is kept back for it. */
const PRUNE_PASSES = 4;

/** After the search: the final measurement, and what else is wished for. */
function passesKept(config: SkillOptConfig, items: Sizes): number {
  return finalPassesOf(config, items) + (config.prune ? PRUNE_PASSES : 0);
}

/** Refuses a limit that does not even pay for a baseline, one look at a candidate and the final measurement. */
export function requireRollouts(config: SkillOptConfig, items: Pick<RunItems, 'val'>): void {
  const needed = (2 + passesKept(config, items)) * items.val.length;
  if (config.maxRollouts === undefined || config.maxRollouts >= needed) return;
  const what = `maxRollouts: ${config.maxRollouts} attempts do not pay for a run on ${items.val.length} validation tasks`;
  throw new SkillError('CONFIG_INVALID', `${what}; it takes at least ${needed}`, {
    hint: 'Raise maxRollouts, or use fewer validation tasks (selEnvNum).',
  });
}
