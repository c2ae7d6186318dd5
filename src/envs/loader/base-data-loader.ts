import { z } from 'zod';
import {
  type EpochPlan,
  type Item,
  parseWith,
  SkillError,
  type SkillOptConfig,
  shuffle,
} from '../../core/contracts/index.ts';
import { toCamelCase } from '../../core/text/index.ts';

/** A batch that an environment is built for. */
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
 * Decides what a batch holds. `setup` is awaited once before anything else is asked. Then every answer is a function of the
 * arguments, so that a resumed run gets the same batches.
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

type PlannedBatch<T> = { readonly seed: number; readonly items: readonly T[] };

const epochSeed = ({ seed, epoch }: EpochPlan) => seed + epoch * 1000;

/** The items in an order of this epoch's own, cut into batches. A batch that would be empty draws again from that order. */
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

const path = z.string().min(1).optional();

const SplitLoaderSettings = z.strictObject({
  /** Default: `split_dir` when only `splitDir` is given, else `ratio`. */
  splitMode: z.enum(['split_dir', 'ratio']).optional(),
  /** Folder with `train/`, `val/` and `test/`. */
  splitDir: path,
  /** File with all items, or a folder with such a file, to be split by ratio. */
  dataPath: path,
  /** Shares of train, val and test. Default 2:1:7. */
  splitRatio: z.string().default('2:1:7'),
  splitSeed: z.number().int().default(42),
  /** Where a split by ratio is written, with its manifest. Default: nowhere. */
  splitOutputDir: path,
  /** Most items of each split. 0, the default: all. */
  limit: z.number().int().nonnegative().default(0),
});

export type SplitLoaderOptions = Readonly<z.input<typeof SplitLoaderSettings>>;

/** Where the items are: in folders that are split already, or in one place. */
export type SplitLoaderPlan = Omit<z.output<typeof SplitLoaderSettings>, 'splitMode' | 'splitDir' | 'dataPath'> &
  ({ readonly mode: 'split_dir'; readonly splitDir: string } | { readonly mode: 'ratio'; readonly dataPath: string });

/**
 * The options of a loader, completed by the run's `extras` under the same names, in camelCase or snake_case. Empty texts
 * and nulls count as not given. Throws `CONFIG_INVALID`.
 */
export function planSplitLoader(options: SplitLoaderOptions, extras: SkillOptConfig['extras']): SplitLoaderPlan {
  const known = given(toCamelCase(extras) as object).filter(([key]) => key in SplitLoaderSettings.shape);
  const input = Object.fromEntries([...known, ...given(options)]);
  const settings = parseWith(SplitLoaderSettings, input, 'The settings of the data loader are not valid.');
  const { splitMode, splitDir, dataPath, ...rest } = settings;
  const mode = splitMode ?? (splitDir !== undefined && dataPath === undefined ? 'split_dir' : 'ratio');
  if (mode === 'split_dir') return { ...rest, mode, splitDir: requirePath(splitDir, 'splitDir', mode) };
  return { ...rest, mode, dataPath: requirePath(dataPath, 'dataPath', mode) };
}

function given(options: object): [string, unknown][] {
  return Object.entries(options).filter(([, value]) => value != null && value !== '');
}

function requirePath(value: string | undefined, key: string, mode: string): string {
  if (value !== undefined) return value;
  throw new SkillError('CONFIG_INVALID', `the data loader in ${mode} mode needs ${key}, and none is given`, {
    hint: 'splitDir is a folder with train/, val/ and test/; dataPath is a file of items that are split by ratio.',
  });
}
