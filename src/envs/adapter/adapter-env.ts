import {
  type EpochPlan,
  type Item,
  type PromptOverrides,
  type RolloutManyContext,
  type RolloutOutput,
  type RolloutResult,
  type SkillEnv,
  SkillError,
} from '../../core/contracts/index.ts';
import { taskTypeOf } from '../split/by-task-type.ts';
import type { EnvAdapter } from './env-adapter.ts';
import { type EpisodeCounts, episodeSource, requireCounts } from './episode-source.ts';
import type { AdapterBatch, ItemSource } from './item-source.ts';
import { loaderSource } from './loader-source.ts';
import { matchResults } from './match-results.ts';
import { toRawPatch } from './to-raw-patch.ts';
import { toRolloutResult } from './to-rollout-result.ts';

export type AdapterEnvOptions = {
  /** Default: the adapter's own. One of them must be there. */
  readonly name?: string;
  readonly version?: string;
  /** Default: the adapter's own. */
  readonly episodes?: EpisodeCounts;
  readonly prompts?: PromptOverrides;
  readonly initialSkill?: string;
};

/** An adapter as an environment. It attempts batches, and can say which items an epoch's batches hold. */
export type AdapterEnv = SkillEnv &
  Required<Pick<SkillEnv, 'rolloutMany' | 'reflect' | 'setup' | 'close'>> & {
    /** A batch per entry, in order. The episodes of one environment of a simulator stay together. */
    planTrainEpoch(plan: EpochPlan): readonly (readonly Item[])[];
  };

/**
 * Turns an adapter into an environment. With a loader, items are the loader's. Without one, they are episodes made
 * from the run's seed and batch size; `EpisodeCounts` says how many. `setup` must be awaited first. Malformed
 * results throw `ENV_INVALID`.
 */
export function adapterEnv<Manager>(adapter: EnvAdapter<Manager>, options: AdapterEnvOptions = {}): AdapterEnv {
  const name = requireName(options.name ?? adapter.name);
  const { version = adapter.version, prompts, initialSkill, episodes = adapter.episodes } = options;
  let source: ItemSource | undefined;
  const ready = () => source ?? notReady(name);
  const rolloutMany = (context: RolloutManyContext) => attemptAll({ adapter, name, source: ready(), context });
  return {
    name,
    ...(version === undefined ? {} : { version }),
    ...(prompts === undefined ? {} : { prompts }),
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    async setup(config) {
      await adapter.setup(config);
      const loader = adapter.getDataloader();
      const { seed, batchSize } = config;
      source = loader
        ? loaderSource(loader, seed)
        : episodeSource({ counts: requireCounts(episodes, name), seed, batchSize });
    },
    close: () => adapter.close(),
    getItems: (split) => ready().getItems(split),
    planTrainEpoch: (plan) => ready().planTrainEpoch(plan),
    getTaskTypes: () => adapter.getTaskTypes(),
    rolloutMany,
    async rolloutOne({ item, ...context }) {
      const phase = ready().batchesOf([item])[0]!.batch.phase;
      return (await rolloutMany({ ...context, items: [item], phase, sampleIndex: 0 }))[0]!;
    },
    async reflect(context) {
      const proposals = await adapter.reflect(context);
      return proposals.map((proposal, index) => toRawPatch(proposal, `${name}: proposal ${index + 1}`));
    },
  };
}

type Attempt<Manager> = {
  readonly adapter: EnvAdapter<Manager>;
  readonly name: string;
  readonly source: ItemSource;
  readonly context: RolloutManyContext;
};

/** One environment after the other: how much of one runs at once is the adapter's choice. */
async function attemptAll<Manager>({ source, ...attempt }: Attempt<Manager>): Promise<readonly RolloutOutput[]> {
  const { items } = attempt.context;
  const found = new Map<string, RolloutResult>();
  for (const batch of source.batchesOf(items)) {
    attempt.context.signal.throwIfAborted();
    const results = await attemptBatch({ source, ...attempt }, batch);
    for (const [id, result] of results) found.set(id, result);
  }
  return items.map((item) => withItemFacts(found.get(item.id)!, item, attempt.adapter));
}

async function attemptBatch<Manager>(
  { adapter, name, source, context }: Attempt<Manager>,
  { batch, items }: AdapterBatch,
): Promise<Map<string, RolloutResult>> {
  const { items: _wanted, skill, ...rest } = context;
  const manager = await adapter.buildEnvFromBatch(batch);
  const dicts: unknown = await adapter.rollout(manager, skill, { ...rest, batch });
  if (!Array.isArray(dicts)) {
    throw new SkillError('ENV_INVALID', `${name}: rollout must give a list of results, got ${typeof dicts}`);
  }
  const results = dicts.map((dict, index) => toRolloutResult(dict, `${name}: result ${index + 1}`));
  return matchResults(items, results, { name, isOrdered: source.isOrdered });
}

/** What the item knows and the result does not say: without a type there would be no tables per type. */
function withItemFacts<Manager>(result: RolloutResult, item: Item, adapter: EnvAdapter<Manager>): RolloutResult {
  const taskType = result.taskType ?? taskTypeOf(item);
  const referenceText = result.referenceText ?? adapter.buildReferenceText(item);
  return {
    ...result,
    ...(taskType === '' ? {} : { taskType }),
    ...(referenceText === '' ? {} : { referenceText }),
  };
}

function requireName(name: string | undefined): string {
  if (name !== undefined && name !== '') return name;
  throw new SkillError('ENV_INVALID', 'an adapter needs a name, and has none', {
    hint: 'adapterEnv(adapter, { name: "…" }), or a field name in the adapter.',
  });
}

function notReady(name: string): never {
  throw new SkillError('ENV_INVALID', `${name} was used before it was set up`, {
    hint: 'Await env.setup(config) first; parseConfig({ … }) makes a config.',
  });
}
