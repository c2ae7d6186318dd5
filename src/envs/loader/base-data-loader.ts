import { type EpochPlan, type Item, SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';
import { planSeeds } from './plan-train-epoch.ts';

/** One batch that an environment is asked to set up. */
export type BatchSpec<Payload = unknown> = {
  /** A batch of `train` is built for training, one of any other split for evaluation. */
  readonly phase: 'train' | 'eval';
  /** As it was asked for: an alias such as `valid_seen` stays one. */
  readonly split: string;
  readonly seed: number;
  /** How many episodes it has. */
  readonly batchSize: number;
  /** What the loader chose, usually a list of items. A simulator makes its episodes from the seed. */
  readonly payload?: Payload;
  readonly metadata: Readonly<Record<string, unknown>>;
};

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
