import type { EpochPlan, Item } from '../../core/contracts/index.ts';
import type { BatchSpec } from '../loader/base-data-loader.ts';

/** A batch to be run, with everything that it will give a result for. */
export type AdapterBatch = {
  readonly batch: BatchSpec;
  readonly items: readonly Item[];
};

/** Where the items of an adapter come from, and which batches attempt them. */
export type ItemSource = {
  getItems(split: string): readonly Item[];
  planTrainEpoch(plan: EpochPlan): readonly (readonly Item[])[];
  /** Batches that together attempt these items, and perhaps others. */
  batchesOf(items: readonly Item[]): readonly AdapterBatch[];
  /** Whether results with unknown ids stand for the items in their order. */
  readonly isOrdered: boolean;
};
