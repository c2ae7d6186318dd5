import { z } from 'zod';
import {
  type EpochPlan,
  type Item,
  type PromptOverrides,
  ROLLOUT_FIELDS,
  type RolloutManyContext,
  type RolloutOutput,
  RolloutResult,
  type SkillEnv,
  SkillError,
} from '../../core/contracts/index.ts';
import { PatchFields, type RawPatch, SourceType } from '../../core/document/index.ts';
import { defined, head, isObject, toCamelCase, toSnakeCase } from '../../core/text/index.ts';
import { taskTypeOf } from '../split.ts';
import {
  type AdapterBatch,
  type EnvAdapter,
  type EpisodeCounts,
  episodeSource,
  type ItemSource,
  loaderSource,
  requireCounts,
} from './env-adapter.ts';

export type AdapterEnvOptions = {
  /** Default: the adapter's own. One of them must be there. */
  readonly name?: string;
  readonly version?: string;
  /** Default: the adapter's own. */
  readonly episodes?: EpisodeCounts;
  readonly prompts?: PromptOverrides;
  readonly initialSkill?: string;
};

/** An adapter as an environment. It attempts whole batches, and knows which items an epoch's batches hold. */
export type AdapterEnv = SkillEnv &
  Required<Pick<SkillEnv, 'rolloutMany' | 'reflect' | 'setup' | 'close'>> & {
    /** A batch per entry, in order. The episodes of one environment of a simulator stay together. */
    planTrainEpoch(plan: EpochPlan): readonly (readonly Item[])[];
  };

/**
 * Turns an adapter into an environment. Its items are those of its loader, or episodes made from the run's seed and batch
 * size. `setup` must be awaited first. Malformed results throw `ENV_INVALID`.
 */
export function adapterEnv<Manager>(adapter: EnvAdapter<Manager>, options: AdapterEnvOptions = {}): AdapterEnv {
  const name = requireName(options.name ?? adapter.name);
  const { version = adapter.version, prompts, initialSkill, episodes = adapter.episodes } = options;
  let source: ItemSource | undefined;
  const ready = () => source ?? notReady(name);
  const rolloutMany = (context: RolloutManyContext) => attemptAll({ adapter, name, source: ready(), context });
  return {
    name,
    ...defined({ version, prompts }),
    ...(initialSkill === undefined ? {} : { getInitialSkill: () => initialSkill }),
    async setup(config) {
      await adapter.setup(config);
      const loader = adapter.getDataloader();
      source = loader ? loaderSource(loader, config.seed) : episodeSource(requireCounts(episodes, name), config);
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

/** Adds what only the item knows. Without a type there would be no tables per type. */
function withItemFacts<Manager>(result: RolloutResult, item: Item, adapter: EnvAdapter<Manager>): RolloutResult {
  const taskType = result.taskType ?? taskTypeOf(item);
  const referenceText = result.referenceText ?? adapter.buildReferenceText(item);
  return { ...result, ...(taskType === '' ? {} : { taskType }), ...(referenceText === '' ? {} : { referenceText }) };
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

/** Each item's result by the item's id. Throws `ENV_INVALID` unless there is exactly one for each. */
function matchResults(
  items: readonly Item[],
  results: readonly RolloutResult[],
  { name, isOrdered }: { readonly name: string } & Pick<ItemSource, 'isOrdered'>,
): Map<string, RolloutResult> {
  if (results.length !== items.length) throw mismatch(name, `expected ${items.length} results, got ${results.length}`);
  const ids = new Set(items.map((item) => item.id));
  const strangers = results.filter((result) => !ids.has(result.id));
  if (isOrdered && strangers.length === results.length) return byPosition(items, results);
  if (strangers[0]) throw mismatch(name, `no item of the batch has the id "${strangers[0].id}"`);
  const found = new Map(results.map((result) => [result.id, result]));
  const missing = items.find((item) => !found.has(item.id));
  if (missing) throw mismatch(name, `there are two results with one id, and none for "${missing.id}"`);
  return found;
}

/** The episode's own id is kept among the extras. */
function byPosition(items: readonly Item[], results: readonly RolloutResult[]): Map<string, RolloutResult> {
  const renamed = results.map((result, index) => {
    const { id } = items[index]!;
    return [id, { ...result, id, extras: { episodeId: result.id, ...result.extras } }] as const;
  });
  return new Map(renamed);
}

function mismatch(name: string, problem: string): SkillError {
  return new SkillError('ENV_INVALID', `${name}: rollout gave results that do not fit its batch: ${problem}`, {
    hint: 'Give one result per item, with the id of the item.',
  });
}

// Loose, because the proposals of the shared analysts pass through here too, with further fields.
const Proposal = z.looseObject({
  patch: PatchFields.loose(),
  sourceType: SourceType,
  batchSize: z.number().int().positive().default(1),
});

/** Checks what an adapter proposed. Throws `ENV_INVALID`; `where` names the proposal. */
function toRawPatch(dict: unknown, where: string): RawPatch | null {
  if (dict == null) return null;
  const checked = Proposal.safeParse(toCamelCase(dict));
  if (checked.success) return checked.data;
  const problem = z.prettifyError(checked.error).replaceAll('\n', ' ');
  throw new SkillError('ENV_INVALID', `${where} is malformed: ${problem}`, {
    hint: 'A proposal is { patch: { edits: […] }, sourceType: "failure" or "success" }, or null.',
  });
}

const camelFields = Object.fromEntries(ROLLOUT_FIELDS.map((key) => [key, key]));
/** A result's fields under both spellings. */
const FIELD_OF = new Map<string, string>(Object.entries({ ...(toSnakeCase(camelFields) as object), ...camelFields }));

/** Checks what an adapter gave for an episode. Throws `ENV_INVALID` that shows it; `where` names it. */
function toRolloutResult(dict: unknown, where: string): RolloutResult {
  if (!isObject(dict)) throw malformed(where, dict, 'it is no object');
  const checked = RolloutResult.safeParse(toFields(dict));
  if (checked.success) return checked.data;
  const problems = checked.error.issues.map(
    ({ path, message }) => `"${path.join('.')}": ${message.replace(/^Invalid input: /, '')}`,
  );
  throw malformed(where, dict, problems.join('; '));
}

function toFields(dict: object): Record<string, unknown> {
  // Python's None means that a field was left out.
  const entries = Object.entries(dict).filter(([, value]) => value != null);
  const fields = entries.flatMap(([key, value]) => (FIELD_OF.has(key) ? [[FIELD_OF.get(key)!, value] as const] : []));
  const unknown = Object.fromEntries(entries.filter(([key]) => !FIELD_OF.has(key)));
  const { id, hard, soft, extras = {}, ...rest } = Object.fromEntries(fields) as Record<string, unknown>;
  const all = { ...unknown, ...(extras as object) };
  return {
    ...rest,
    id: typeof id === 'number' ? String(id) : id,
    hard: toNumber(hard),
    soft: toNumber(soft),
    ...(Object.keys(all).length > 0 ? { extras: all } : {}),
  };
}

const toNumber = (score: unknown) => (typeof score === 'boolean' ? Number(score) : score);

function malformed(where: string, dict: unknown, problem: string): SkillError {
  const shown = head(JSON.stringify(dict) ?? String(dict), 200);
  return new SkillError('ENV_INVALID', `${where} is malformed: ${problem}, in ${shown}`, {
    hint: 'A result has an id, and hard and soft from 0 to 1.',
  });
}
