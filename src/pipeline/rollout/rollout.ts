import {
  type Item,
  ModelCallError,
  type RolloutResult,
  type RolloutRunner,
  type SkillEnv,
} from '../../core/contracts/index.ts';
import { skillHash } from '../../core/text/index.ts';
import { createDeadline } from '../deadline.ts';
import type { StageDeps } from '../stage-deps.ts';
import { watchModels } from '../watch-models.ts';
import { checkOutput, thrownBy } from './check-output.ts';
import { requireScores } from './require-scores.ts';
import { rollOutTogether } from './roll-out-together.ts';
import type { RolloutInput } from './rollout-input.ts';
import { rolloutKey } from './rollout-key.ts';
import { type RolloutMemory, rolloutMemory } from './rollout-memory.ts';

/** ① Forward pass: the frozen target attempts every item with the skill in hand. One result per item, in their order. */
export async function runRollout<I extends Item>(input: RolloutInput<I>, deps: StageDeps): Promise<RolloutResult[]> {
  const memory = rolloutMemory(deps.rollouts, deps.onThrown);
  const rollOut = input.env.rolloutMany ? rollOutTogether : rollOutEach;
  const results = await rollOut(input, memory, deps);
  if (input.isPart) return results;
  requireScores(results, deps.maxErroredShare);
  await memory.saveThrown();
  return results;
}

async function rollOutEach<I extends Item>(
  input: RolloutInput<I>,
  memory: RolloutMemory,
  deps: StageDeps,
): Promise<RolloutResult[]> {
  const { env, skill, items, sampleIndex = 0 } = input;
  const hash = skillHash(skill);
  let done = 0;
  try {
    return await deps.limit.map(items, async (item) => {
      const attempt = { env, skill, item, sampleIndex };
      const key = rolloutKey({ ...attempt, skillHash: hash }, deps);
      const known = await memory.find(key);
      const result = known ?? (await attemptOrErr({ ...attempt, key }, deps));
      if (!known) memory.keep(key, result);
      deps.onProgress(++done, items.length, result);
      return result;
    });
  } finally {
    await memory.saved();
  }
}

type Attempt<I extends Item> = {
  readonly env: SkillEnv<I>;
  readonly skill: string;
  readonly item: I;
  readonly sampleIndex: number;
  readonly key: string;
};

/** A task that alone met an outage is reported, not scored. What every other task would meet too stops the run. */
async function attemptOrErr<I extends Item>(attempt: Attempt<I>, deps: StageDeps): Promise<RolloutResult> {
  try {
    return await (deps.runner ? attemptElsewhere(attempt, deps.runner, deps) : attemptItem(attempt, deps));
  } catch (error) {
    if (!(error instanceof ModelCallError) || error.isFatal || deps.stop.signal.aborted) throw error;
    return { id: attempt.item.id, hard: 0, soft: 0, errored: true, failReason: error.message };
  }
}

async function attemptElsewhere<I extends Item>(
  { env: _env, ...attempt }: Attempt<I>,
  runner: RolloutRunner,
  { stop }: StageDeps,
): Promise<RolloutResult> {
  stop.signal.throwIfAborted();
  return checkOutput(attempt.item, await runner.run(attempt, stop.abandon), 'the runner');
}

/** A task whose code throws has failed; a model that cannot be reached has failed the run. */
async function attemptItem<I extends Item>(
  { env, skill, item, sampleIndex }: Attempt<I>,
  deps: StageDeps,
): Promise<RolloutResult> {
  deps.stop.signal.throwIfAborted(); // it may have come while the cache was asked
  using deadline = createDeadline(deps);
  const { throwOutage, ...models } = watchModels(deps, { sampleIndex, signal: deadline.signal });
  try {
    const context = { item, skill, ...models, extras: deps.extras, signal: deadline.signal };
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
