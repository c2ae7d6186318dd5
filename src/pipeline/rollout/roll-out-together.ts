import {
  type Item,
  ModelCallError,
  type RolloutOutput,
  type RolloutResult,
  SkillError,
} from '../../core/contracts/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { createDeadline } from '../deadline.ts';
import type { StageDeps } from '../stage-deps.ts';
import { watchModels } from '../watch-models.ts';
import { checkOutput, thrownBy } from './check-output.ts';
import type { RolloutInput } from './rollout-input.ts';
import { rolloutKey } from './rollout-key.ts';
import type { RolloutMemory } from './rollout-memory.ts';

/** For environments that attempt many items at once: those that are not known yet, in one go. */
export async function rollOutTogether<I extends Item>(
  batch: RolloutInput<I>,
  memory: RolloutMemory,
  deps: StageDeps,
): Promise<RolloutResult[]> {
  const { env, skill, items, sampleIndex = 0, phase = 'eval' } = batch;
  const hash = skillHash(skill);
  const keys = items.map((item) => rolloutKey({ env, item, skillHash: hash, sampleIndex, phase }, deps));
  const known = await Promise.all(keys.map((key) => memory.find(key)));
  const missing = items.filter((_, index) => known[index] === undefined);
  const fresh =
    missing.length === 0 ? [] : await deps.limit.run(() => attemptOrErr({ ...batch, items: missing }, deps));
  const results = known.map((result) => result ?? fresh.shift()!);
  for (const [index, result] of results.entries()) if (!known[index]) memory.keep(keys[index]!, result);
  await memory.saved();
  for (const [index, result] of results.entries()) deps.onProgress(index + 1, items.length, result);
  return results;
}

/** An outage that stops the run aside, a batch whose model failed has no scores, and one whose code threw has failed. */
async function attemptOrErr<I extends Item>(batch: RolloutInput<I>, deps: StageDeps): Promise<RolloutResult[]> {
  try {
    return await attempt(batch, deps);
  } catch (error) {
    deps.stop.signal.throwIfAborted();
    if (error instanceof SkillError && !isPassing(error)) throw error;
    if (!(error instanceof ModelCallError)) return batch.items.map((item) => thrownBy(item, error));
    return batch.items.map(({ id }) => ({ id, hard: 0, soft: 0, errored: true, failReason: error.message }));
  }
}

const isPassing = (error: SkillError) => error instanceof ModelCallError && !error.isFatal;

async function attempt<I extends Item>(batch: RolloutInput<I>, deps: StageDeps): Promise<RolloutResult[]> {
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

/** A result that cannot be used is its task's failure, and nobody else's. */
function checkOrFail(item: Item, output: RolloutOutput): RolloutResult {
  try {
    return checkOutput(item, output, 'rolloutMany');
  } catch (error) {
    return thrownBy(item, error);
  }
}

/** By id where the results have one, else by position. */
function match(items: readonly Item[], outputs: readonly RolloutOutput[], env: string): RolloutResult[] {
  const byId = new Map(outputs.flatMap((output) => (output.id === undefined ? [] : [[output.id, output] as const])));
  return items.map((item, index) => {
    const output = byId.get(item.id) ?? (byId.size === 0 ? outputs[index] : undefined);
    if (output) return checkOrFail(item, output);
    throw new SkillError('ENV_INVALID', `${env}: rolloutMany gave no result for ${item.id}`);
  });
}
