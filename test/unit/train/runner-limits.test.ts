import { defineEnv, memoryRun, type RolloutRunner, SkillOptTrainer } from 'skillopt';
import { simulatedOptimizer } from 'skillopt/sim';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const ids = (split: string) => Array.from({ length: 12 }, (_, index) => ({ id: `${split}${index}` }));
const items = { train: ids('a'), val: ids('b'), test: ids('c') };
const usage = { input: 100, cached: 0, output: 20, reasoning: 0 };

/** A runner that asks a server so many times in each attempt. */
function runnerAt(
  url: string,
  { calls = 1, tells = false, most }: { calls?: number; tells?: boolean; most?: object } = {},
) {
  const runner: RolloutRunner = {
    ...(most && { most }),
    async run({ item }, { signal }) {
      for (let call = 0; call < calls; call++) {
        const body = JSON.stringify({ messages: [{ role: 'user', content: item.id }] });
        await fetch(`${url}/chat/completions`, { method: 'POST', body, signal });
      }
      const result = { id: item.id, hard: 0, soft: 0 };
      const bill = { calls, usage: { ...usage, input: 100 * calls, output: 20 * calls }, costUsd: 0.01 * calls };
      return { result, ...(tells ? { bills: [bill] } : {}) };
    },
  };
  return runner;
}

async function train(runner: RolloutRunner, limits: object) {
  const env = defineEnv({
    ...{ name: 'elsewhere', schema: z.object({ id: z.string() }), items },
    rolloutOne: () => Promise.reject(new Error('not here')),
  });
  const store = memoryRun();
  const warnings: string[] = [];
  const prices = { '*': { input: 1, cachedInput: 1, output: 1 } };
  const optimizer = { ...simulatedOptimizer(), modelName: '*' };
  const trainer = new SkillOptTrainer({
    ...{ env, optimizer, runner, store, config: { workers: 3, prices, ...limits } },
    observers: [{ onWarning: (warning) => warnings.push(warning) }],
  });
  const error = await trainer.train().then(
    () => undefined,
    (thrown: { code: string; limit: string }) => thrown,
  );
  return { error, warnings, events: store.events };
}

describe('limits of a run whose attempts are made by a runner', () => {
  it.each([
    ['an attempt counts as a call', {}, { maxCalls: 7 }, 7],
    ['an attempt that takes more says so', { calls: 3, most: { calls: 3 } }, { maxCalls: 10 }, 9],
    ['tokens', { most: { totalTokens: 120 }, tells: true }, { maxTotalTokens: 20_000 }, 166],
    ['dollars', { most: { costUsd: 0.01 }, tells: true }, { maxCostUsd: 0.05 }, 5],
  ])('are not passed at the provider: %s', async (_, options, limits, most) => {
    await using server = await startFakeLLM(() => 'hi');
    const { error, warnings } = await train(runnerAt(server.baseURL, options), limits);
    if ('maxTotalTokens' in limits) expect(server.requests.length).toBeLessThanOrEqual(most);
    else expect([error?.code, server.requests.length]).toEqual(['BUDGET_EXHAUSTED', most]);
    expect(warnings.join()).not.toContain('does not limit the runner');
  });

  it('are named that cannot limit it', async () => {
    await using server = await startFakeLLM(() => 'hi');
    const { warnings } = await train(runnerAt(server.baseURL), { maxTotalTokens: 1_000_000, maxCostUsd: 9 });
    expect(warnings.join('\n')).toContain('maxTotalTokens does not limit the runner');
    expect(warnings.join('\n')).toContain('maxCostUsd does not limit the runner');
  });

  it('end an attempt that never comes back', async () => {
    await using server = await startFakeLLM(() => new Promise<never>(() => {}));
    const { error } = await train(runnerAt(server.baseURL), { maxMinutes: 0.005 });
    expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED', limit: 'maxMinutes' });
  });

  it('are counted in the journal, by what it says', async () => {
    await using server = await startFakeLLM(() => 'hi');
    const { events } = await train(runnerAt(server.baseURL, { calls: 2, tells: true }), { numEpochs: 1 });
    const counted = events.map(({ usage: used }) => used?.rollout?.replies ?? 0).reduce((sum, n) => sum + n, 0);
    expect(counted).toBe(server.requests.length);
  });
});
