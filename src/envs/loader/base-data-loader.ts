import type { SkillOptConfig } from '../../core/config.ts';
import type { EpochPlan, Item } from '../../core/env.ts';
import { SkillError } from '../../core/errors.ts';
import type { BatchSpec } from './batch-spec.ts';
import { planSeeds } from './plan-train-epoch.ts';

/** An item as data files hold it: an id and whatever else the environment reads. */
export type DataItem = Item & Readonly<Record<string, unknown>>;

/**
 * Decides what a batch holds. `setup` is awaited once before anything else is asked; after it every answer is a
 * function of the arguments, so that a resumed run meets the same batches.
 */
export abstract class BaseDataLoader<I extends Item = DataItem> {
  /** Loads what is needed. `config.extras` holds the settings that are the environment's own. */
  setup(_config: SkillOptConfig): void | Promise<void> {}

  abstract buildTrainBatch(batchSize: number, seed: number): BatchSpec;

  /** The first `envNum` of the split, 0 for all of them. */
  abstract buildEvalBatch(envNum: number, split: string, seed: number): BatchSpec;

  /** Every item of a split. Unless overridden, the payload of its whole evaluation batch. */
  getItems(split: string): readonly I[] {
    const { payload } = this.buildEvalBatch(0, split, 0);
    if (Array.isArray(payload)) return payload;
    throw new SkillError('ENV_INVALID', `the loader's batch of "${split}" must hold a list of items, got ${payload}`, {
      hint: 'Put the items into its payload, or override getItems.',
    });
  }

  /** The batches of one epoch, in order. Unless overridden, one is built from each of the epoch's seeds. */
  planTrainEpoch(plan: EpochPlan): BatchSpec[] {
    return planSeeds(plan).map((seed) => this.buildTrainBatch(plan.batchSize, seed));
  }
}
