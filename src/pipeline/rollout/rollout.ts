import { z } from 'zod';
import {
  type Item,
  ModelCallError,
  type RolloutOutput,
  RolloutResult,
  type RolloutRunner,
  type SkillEnv,
  SkillError,
} from '../../core/contracts/index.ts';
import { maskKeysIn } from '../../core/guard/index.ts';
import { asJson, skillHash, withCauses } from '../../core/text/index.ts';
import { createDeadline, type StageDeps } from '../stage-deps.ts';
import { requireScores } from './require-scores.ts';
import { type RolloutMemory, rolloutKey, rolloutMemory } from './rollout-memory.ts';
import { watchModels } from './watch-models.ts';

export type RolloutInput<I extends Item> = {
  readonly env: SkillEnv<I>;
  readonly skill: string;
  readonly items: readonly I[];
  /** Which draw of each item: rollouts with another index are independent of these. */
  readonly sampleIndex?: number;
  /** What the results are for: to learn from, or to measure with. */
  readonly phase?: 'train' | 'eval';
  /** Part of a measurement: the caller checks whether enough of the whole has a score. */
  readonly isPart?: boolean;
};

/**
 * ① Forward pass: the frozen target attempts every item with the skill in hand. One result per item, in their order. What an
 * environment, an agent or a runner says may hold a key of ours: results do not.
 */
export async function runRollout<I extends Item>(input: RolloutInput<I>, deps: StageDeps): Promise<RolloutResult[]> {
  const memory = rolloutMemory(deps);
  const rollOut = input.env.rolloutMany ? rollOutTogether : rollOutEach;
  const results = await rollOut(input, memory, deps);
  if (input.isPart) return results;
  requireScores(results, deps.maxErroredShare);
  await memory.saveThrown();
  return results;
}

async function rollOutEach<I extends Item>(input: RolloutInput<I>, memory: RolloutMemory, deps: StageDeps) {
  const { env, skill, items, sampleIndex = 0 } = input;
  const hash = skillHash(skill);
  let done = 0;
  try {
    return await deps.limit.map(items, async (item) => {
      const attempt = { env, skill, item, sampleIndex };
      const key = rolloutKey({ ...attempt, skillHash: hash }, deps);
      const known = await memory.find(key);
      const result = maskKeysIn(known ?? (await attemptOrErr({ ...attempt, key }, deps)));
      if (!known) memory.keep(key, result);
      deps.onProgress(++done, items.length, result);
      return result;
    });
  } finally {
    await memory.saved();
  }
}

type Attempt<I extends Item> = Required<Pick<RolloutInput<I>, 'env' | 'skill' | 'sampleIndex'>> & {
  readonly item: I;
  readonly key: string;
};

/** A task that met an outage has no score. An outage that every other task would meet too stops the run. */
async function attemptOrErr<I extends Item>(attempt: Attempt<I>, deps: StageDeps): Promise<RolloutResult> {
  try {
    return await (deps.runner ? attemptElsewhere(attempt, deps.runner, deps) : attemptItem(attempt, deps));
  } catch (error) {
    if (!(error instanceof ModelCallError) || error.isFatal || deps.stop.signal.aborted) throw error;
    return unreached(attempt.item, error);
  }
}

const unreached = ({ id }: Item, { message }: ModelCallError): RolloutResult => {
  return { id, hard: 0, soft: 0, errored: true, failReason: message };
};

/** A runner keeps the time of a task itself. One that is this late does not answer any more. */
const RUNNER_GRACE_MS = 30_000;

/** What a runner throws is no result of the task, and neither is its silence. */
async function attemptElsewhere<I extends Item>(
  { env: _env, ...attempt }: Attempt<I>,
  runner: RolloutRunner,
  deps: StageDeps,
): Promise<RolloutResult> {
  deps.stop.signal.throwIfAborted();
  const rolloutTimeoutMs = deps.rolloutTimeoutMs + RUNNER_GRACE_MS;
  const late = () => new ModelCallError(`the runner has not answered for ${rolloutTimeoutMs / 1000} s`);
  using deadline = createDeadline({ ...deps, rolloutTimeoutMs }, late);
  const { sampleIndex, item } = attempt;
  const { throwOutage, ...models } = watchModels(deps, { sampleIndex, signal: deadline.signal });
  const context = { ...models, extras: deps.extras, signal: deadline.signal, begin: deadline.restart };
  try {
    const { result } = await Promise.race([runner.run(attempt, context), deadline.expiry]);
    throwOutage();
    return checkOutput(item, result, 'the runner');
  } catch (error) {
    throwOutage();
    throw error;
  }
}

/** A task whose code throws has failed; a model that cannot be reached has failed the run. */
async function attemptItem<I extends Item>({ env, skill, item, sampleIndex }: Attempt<I>, deps: StageDeps) {
  deps.stop.signal.throwIfAborted(); // it may have come while the cache was asked
  using deadline = createDeadline(deps);
  const { throwOutage, ...models } = watchModels(deps, { sampleIndex, signal: deadline.signal });
  try {
    const { extras, workFolder: folder } = deps;
    const keptWork = folder === undefined ? {} : { keptWork: { folder, sampleIndex } };
    const context = { item, skill, ...models, extras, ...keptWork, signal: deadline.signal };
    const output = await Promise.race([env.rolloutOne(context), deadline.expiry]);
    throwOutage();
    return checkOutput(item, output);
  } catch (error) {
    throwOutage();
    if (error instanceof ModelCallError) throw error; // of a model of the environment's own: an outage all the same
    deps.stop.signal.throwIfAborted();
    return thrownBy(item, error);
  }
}

/** For environments that attempt many items at once: those that are not known yet, in one go. */
async function rollOutTogether<I extends Item>(batch: RolloutInput<I>, memory: RolloutMemory, deps: StageDeps) {
  const { env, skill, items, sampleIndex = 0, phase = 'eval' } = batch;
  const hash = skillHash(skill);
  const keys = items.map((item) => rolloutKey({ env, item, skillHash: hash, sampleIndex, phase }, deps));
  const known = await Promise.all(keys.map((key) => memory.find(key)));
  const missing = items.filter((_, index) => known[index] === undefined);
  const fresh =
    missing.length === 0 ? [] : await deps.limit.run(() => attemptBatchOrErr({ ...batch, items: missing }, deps));
  const results = maskKeysIn(known.map((result) => result ?? fresh.shift()!));
  for (const [index, result] of results.entries()) if (!known[index]) memory.keep(keys[index]!, result);
  await memory.saved();
  for (const [index, result] of results.entries()) deps.onProgress(index + 1, items.length, result);
  return results;
}

/** A batch whose model failed has no scores, and one whose code threw has failed. A fatal outage stops the run. */
async function attemptBatchOrErr<I extends Item>(batch: RolloutInput<I>, deps: StageDeps): Promise<RolloutResult[]> {
  try {
    return await attemptBatch(batch, deps);
  } catch (error) {
    deps.stop.signal.throwIfAborted();
    const isOutage = error instanceof ModelCallError && !error.isFatal;
    if (error instanceof SkillError && !isOutage) throw error;
    if (!isOutage) return batch.items.map((item) => thrownBy(item, error));
    return batch.items.map((item) => unreached(item, error));
  }
}

async function attemptBatch<I extends Item>(batch: RolloutInput<I>, deps: StageDeps): Promise<RolloutResult[]> {
  const { env, skill, items, sampleIndex = 0, phase = 'eval' } = batch;
  using deadline = createDeadline({ ...deps, rolloutTimeoutMs: deps.rolloutTimeoutMs * items.length });
  const { throwOutage, ...models } = watchModels(deps, { sampleIndex, signal: deadline.signal });
  const context = { items, skill, ...models, extras: deps.extras, signal: deadline.signal, phase, sampleIndex };
  try {
    const outputs = await Promise.race([env.rolloutMany!(context), deadline.expiry]);
    throwOutage();
    return match(items, outputs, env.name);
  } catch (error) {
    throwOutage();
    throw error;
  }
}

/** By id where the results have one, else by position. A result that cannot be used is its task's failure alone. */
function match(items: readonly Item[], outputs: readonly RolloutOutput[], env: string): RolloutResult[] {
  const byId = new Map(outputs.flatMap((output) => (output.id === undefined ? [] : [[output.id, output] as const])));
  return items.map((item, index) => {
    const output = byId.get(item.id) ?? (byId.size === 0 ? outputs[index] : undefined);
    if (!output) throw new SkillError('ENV_INVALID', `${env}: rolloutMany gave no result for ${item.id}`);
    try {
      return checkOutput(item, output, 'rolloutMany');
    } catch (error) {
      return thrownBy(item, error);
    }
  });
}

/** The result as the cache would give it back: a resumed run sees what the first one saw. */
function checkOutput(item: Item, output: RolloutOutput, by = 'rolloutOne'): RolloutResult {
  const missing = output?.unjudged ? { errored: true } : {};
  const checked = RolloutResult.safeParse({ ...output, ...missing, id: item.id });
  if (checked.success) return asJson(checked.data) as RolloutResult;
  throw new Error(`${by} gave an unusable result: ${z.prettifyError(checked.error).replaceAll('\n', ' ')}`);
}

function thrownBy({ id }: Item, error: unknown): RolloutResult {
  return { id, hard: 0, soft: 0, failReason: withCauses(error), threw: true };
}
