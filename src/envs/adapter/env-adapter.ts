import {
  type EpochPlan,
  type Item,
  type ReflectContext,
  type RolloutManyContext,
  type RolloutResult,
  SkillError,
  type SkillOptConfig,
  shuffle,
} from '../../core/contracts/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { type BaseDataLoader, type BatchSpec, planSeeds } from '../loader/base-data-loader.ts';
import { byTaskType, requireSplitName, type SplitName } from '../split.ts';

/** More about the batch that an environment is built for. */
export type BuildOptions = Pick<BatchSpec, 'split' | 'payload' | 'metadata'>;

/** The models and the signal of a rollout, and the batch that the environment was built from. */
export type AdapterContext = Omit<RolloutManyContext, 'items' | 'skill'> & { readonly batch: BatchSpec };

/**
 * A result as an adapter may give it: `id`, `hard` and `soft`, and any field of a `RolloutResult`, in camelCase or
 * snake_case. Other fields are kept under `extras`. A number as id becomes text.
 */
export type RolloutDict = Readonly<Record<string, unknown>>;

/** A proposal as an adapter may give it: `patch` with `edits`, and `sourceType` or `source_type`. */
export type RawPatchDict = Readonly<Record<string, unknown>>;

/**
 * A benchmark, simulator or service that is built for a batch and attempts it at once. `adapterEnv` makes it a
 * `SkillEnv`. `Manager` is whatever it needs between being built and being run.
 */
export abstract class EnvAdapter<Manager = unknown> {
  /** Default: the name that it was registered under or loaded from. */
  readonly name?: string;
  /** Changes whenever the same item could score differently. */
  readonly version?: string;
  /**
   * How many episodes each split has. Needed without a loader, and ignored with one. The k-th train environment is
   * built from the run's seed + k, with a whole batch of episodes. Val and test are one environment each, both built from
   * the run's seed.
   */
  readonly episodes?: EpisodeCounts;

  /** Called once before anything else. Sets the loader up: call `super.setup(config)` when overriding it. */
  async setup(config: SkillOptConfig): Promise<void> {
    await this.getDataloader()?.setup(config);
  }

  /** Called once when nothing more is asked. */
  close(): void | Promise<void> {}

  /** Where items come from; always the same loader. A simulator, which makes its episodes from seeds, has none. */
  getDataloader(): BaseDataLoader | undefined {
    return undefined;
  }

  /** With a loader, `options.payload` is the list of items, and the seed does not matter. */
  abstract buildTrainEnv(batchSize: number, seed: number, options: BuildOptions): Manager | Promise<Manager>;

  /** The same for a split that is measured on. */
  abstract buildEvalEnv(envNum: number, split: string, seed: number, options: BuildOptions): Manager | Promise<Manager>;

  /**
   * Attempts the whole batch. One result per item, with its id. The episodes of a simulator may have ids of their own
   * and then come in order. What an item scores must not depend on the others: results are kept item by item.
   */
  abstract rollout(envManager: Manager, skill: string, context: AdapterContext): Promise<readonly RolloutDict[]>;

  /** Each kind of task that it has. */
  abstract getTaskTypes(): readonly string[];

  /** Proposals from results; `null` proposes nothing. Unless overridden, the shared analysts make them. */
  async reflect(context: ReflectContext): Promise<readonly (RawPatchDict | null)[]> {
    return context.reflectByDefault();
  }

  /** Which of the two builders a batch is for. */
  buildEnvFromBatch({ phase, split, seed, batchSize, ...rest }: BatchSpec): Manager | Promise<Manager> {
    const options = { split, ...rest };
    if (phase === 'train') return this.buildTrainEnv(batchSize, seed, options);
    return this.buildEvalEnv(batchSize, split, seed, options);
  }

  /** What an analyst may know about the right answer. Results that have a `referenceText` keep theirs. */
  buildReferenceText(item: Item): string {
    const { referenceText, reference_text } = item as { referenceText?: unknown; reference_text?: unknown };
    const text = referenceText ?? reference_text;
    return typeof text === 'string' ? text : '';
  }

  /**
   * A few results that stand for the rest, for a `reflect` of one's own: failures first, then successes, of as many task types
   * as there is room for. A function of the results and the seed. Results that errored are left out.
   */
  selectRepresentativeItems(results: readonly RolloutResult[], selection: Selection): RolloutResult[] {
    const { failures, successes, seed } = selection;
    const scored = shuffle(
      results.filter((result) => !result.errored),
      seed,
    );
    const failed = scored.filter((result) => result.hard < 1e-9); // as the analysts count it
    const succeeded = scored.filter((result) => !failed.includes(result));
    return [...takeInTurn(failed, failures), ...takeInTurn(succeeded, successes)];
  }
}

/** Checks the methods, so that an adapter of another copy of this package is one too. */
export function isEnvAdapter(value: unknown): value is EnvAdapter {
  const adapter = (typeof value === 'object' ? value : null) as Partial<EnvAdapter> | null;
  const methods = [adapter?.buildEnvFromBatch, adapter?.rollout, adapter?.reflect, adapter?.getTaskTypes];
  return methods.every((method) => typeof method === 'function');
}

export type Selection = { readonly failures: number; readonly successes: number; readonly seed: number };

/** One of each type, then a second of each, until there are `count`. */
function takeInTurn(results: readonly RolloutResult[], count: number): RolloutResult[] {
  const groups = byTaskType(results);
  const longest = Math.max(0, ...groups.map((group) => group.length));
  const turns = Array.from({ length: longest }, (_, turn) => groups.flatMap((group) => group[turn] ?? []));
  return turns.flat().slice(0, count);
}

/** How many episodes each split of a simulator has. `train` is rounded up to whole batches. */
export type EpisodeCounts = { readonly [Name in SplitName]: number };

/** Which episode it is: the `index`-th of the environment that `seed` and `batchSize` build. */
export type Episode = Item & {
  readonly split: SplitName;
  readonly seed: number;
  readonly index: number;
  readonly batchSize: number;
};

/**
 * The episodes of a simulator as items. An item holds everything that its environment is built from, so a kept result
 * stands for that episode and no other. When only some episodes of an environment are wanted, all of them are run.
 */
export function episodeSource(counts: EpisodeCounts, { seed, batchSize }: SkillOptConfig): ItemSource {
  return {
    isOrdered: true,
    getItems(split) {
      const name = requireSplitName(split, 'the simulator');
      if (name !== 'train') return episodesOf({ split: name, seed, batchSize: counts[name] });
      const batches = Math.ceil(counts.train / batchSize);
      const seeds = Array.from({ length: batches }, (_, index) => seed + index + 1);
      return seeds.flatMap((one) => episodesOf({ split: name, seed: one, batchSize }));
    },
    planTrainEpoch: (plan) =>
      planSeeds(plan).map((one) => episodesOf({ split: 'train', seed: one, batchSize: plan.batchSize })),
    batchesOf: (items) => groupBy(items as readonly Episode[], environmentOf).map(([first]) => toBatch(first!)),
  };
}

function episodesOf(environment: Omit<Episode, 'id' | 'index'>): Episode[] {
  const { split, seed, batchSize } = environment;
  return Array.from({ length: batchSize }, (_, index) => ({ id: `${split}-${seed}-${index}`, ...environment, index }));
}

const environmentOf = ({ split, seed, batchSize }: Episode) => `${split} ${seed} ${batchSize}`;

function toBatch({ split, seed, batchSize }: Episode) {
  const items = episodesOf({ split, seed, batchSize });
  const metadata = { ids: items.map((item) => item.id) };
  return { items, batch: { phase: split === 'train' ? 'train' : 'eval', split, seed, batchSize, metadata } as const };
}

/** Throws `ENV_INVALID` for an adapter that has neither a loader nor counts. */
export function requireCounts(counts: EpisodeCounts | undefined, name: string): EpisodeCounts {
  const numbers = [counts?.train, counts?.val, counts?.test];
  if (numbers.every((number) => Number.isSafeInteger(number) && number! >= 0)) return counts!;
  const problem = `${name}: an adapter without a loader must say how many episodes each split has`;
  throw new SkillError('ENV_INVALID', `${problem}, got ${JSON.stringify(counts) ?? 'nothing'}`, {
    hint: 'Give it episodes = { train: 80, val: 40, test: 40 }, or a loader from getDataloader().',
  });
}

/** A batch to be run, and the items that it will give results for. */
export type AdapterBatch = { readonly batch: BatchSpec; readonly items: readonly Item[] };

/** Where the items of an adapter come from, and which batches attempt them. */
export type ItemSource = {
  getItems(split: string): readonly Item[];
  planTrainEpoch(plan: EpochPlan): readonly (readonly Item[])[];
  /** Batches that together attempt these items, and perhaps others. */
  batchesOf(items: readonly Item[]): readonly AdapterBatch[];
  /** Whether results with unknown ids stand for the items in their order. */
  readonly isOrdered: boolean;
};

/** The items of a loader. A batch holds items of one split, in their order, and no others. */
export function loaderSource(loader: BaseDataLoader, seed: number): ItemSource {
  // Kept, because every batch asks for the splits of its items.
  const splits = new Map<string, string>();
  const splitOf = ({ id }: Item) => splits.get(id) ?? 'train';
  const noteSplit = <I extends Item>(items: readonly I[], split: string) => {
    for (const { id } of items) splits.set(id, split);
    return items;
  };
  return {
    isOrdered: false,
    getItems: (split) => noteSplit(loader.getItems(split), split),
    planTrainEpoch: (plan) =>
      loader.planTrainEpoch(plan).map(({ payload }) => noteSplit(requireItems(payload), 'train')),
    batchesOf: (items) =>
      groupBy(items, splitOf).map((payload) => {
        const split = splitOf(payload[0]!);
        const phase = split === 'train' ? 'train' : 'eval';
        return { items: payload, batch: { phase, split, seed, batchSize: payload.length, payload, metadata: {} } };
      }),
  };
}

function requireItems(payload: unknown): readonly Item[] {
  if (Array.isArray(payload)) return payload;
  throw new SkillError('ENV_INVALID', `a planned batch must hold a list of items, got ${payload}`, {
    hint: 'Put the items into the payload of every batch that planTrainEpoch gives.',
  });
}
