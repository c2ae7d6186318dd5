import { type EpochPlan, shuffle } from '../../core/contracts/index.ts';

type PlannedBatch<T> = { readonly seed: number; readonly items: readonly T[] };

const epochSeed = ({ seed, epoch }: EpochPlan) => seed + epoch * 1000;

/**
 * The items in an order of this epoch's own, cut into batches. The last may be shorter. One that would be empty, which
 * accumulation over few items brings about, draws again from that order.
 */
export function planItems<T>(items: readonly T[], plan: EpochPlan): PlannedBatch<T>[] {
  const order = shuffle(items, epochSeed(plan));
  return Array.from({ length: plan.batches }, (_, index) => {
    const seed = epochSeed(plan) + index + 1;
    const slice = order.slice(index * plan.batchSize, (index + 1) * plan.batchSize);
    return { seed, items: slice.length > 0 ? slice : shuffle(order, seed).slice(0, plan.batchSize) };
  });
}

/** For what is made from seeds alone: one seed per batch, the same in every epoch, in an order of this epoch's own. */
export function planSeeds(plan: EpochPlan): number[] {
  const seeds = Array.from({ length: plan.batches }, (_, index) => plan.seed + index + 1);
  return shuffle(seeds, epochSeed(plan));
}
