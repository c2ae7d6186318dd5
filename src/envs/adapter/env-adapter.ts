import type {
  Item,
  ReflectContext,
  RolloutManyContext,
  RolloutResult,
  SkillOptConfig,
} from '../../core/contracts/index.ts';
import type { BaseDataLoader, BatchSpec } from '../loader/base-data-loader.ts';
import type { EpisodeCounts } from './episode-source.ts';
import { type Selection, selectRepresentative } from './select-representative.ts';

/** What else is known about the batch that an environment is built for. */
export type BuildOptions = Pick<BatchSpec, 'split' | 'payload' | 'metadata'>;

/** The models and the signal of a rollout, and the batch that the environment was built from. */
export type AdapterContext = Omit<RolloutManyContext, 'items' | 'skill'> & { readonly batch: BatchSpec };

/**
 * A result as an adapter may give it: `id`, `hard` and `soft`, and any field of a `RolloutResult`, in camelCase or
 * snake_case. Everything else is kept under `extras`. A number as id becomes text.
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
   * built from the run's seed + k, with a whole batch of episodes; val and test are one environment each, both from
   * the run's seed: it is their split that tells them apart.
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

  /** A few results that stand for the rest, for a `reflect` of one's own: seeded, of as many task types as possible. */
  selectRepresentativeItems(results: readonly RolloutResult[], selection: Selection): RolloutResult[] {
    return selectRepresentative(results, selection);
  }
}

/** By its methods, so that an adapter of another copy of this package is one too. */
export function isEnvAdapter(value: unknown): value is EnvAdapter {
  const adapter = (typeof value === 'object' ? value : null) as Partial<EnvAdapter> | null;
  const methods = [adapter?.buildEnvFromBatch, adapter?.rollout, adapter?.reflect, adapter?.getTaskTypes];
  return methods.every((method) => typeof method === 'function');
}
