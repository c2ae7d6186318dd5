import { memoryRun, type SkillOptConfigInput, SkillOptTrainer, toFact } from 'skillopt';
import { openaiCompatible } from 'skillopt/models';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { levelOf, levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';

const train = (
  config: SkillOptConfigInput,
  store = memoryRun(),
  models = { target: levelsTarget(), optimizer: levelsOptimizer() },
) =>
  new SkillOptTrainer({ env: levelsEnv(), ...models, store, config: { numEpochs: 2, batchSize: 4, ...config } })
    .train()
    .then((summary) => ({ summary, ...models }));

describe('a run with a budget', () => {
  it('stops before the limit of calls is passed, keeps everything, and continues when given more', async () => {
    const undisturbed = memoryRun();
    const finalPasses = 0; // nothing is kept back for them: see reserve.test.ts
    const { target, optimizer } = await train({ finalPasses }, undisturbed);
    const needed = target.requests.length + optimizer.requests.length;

    const store = memoryRun();
    let sent = 0;
    for (const maxCalls of [10, 25, 40, 60]) {
      const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
      await expect(train({ maxCalls, finalPasses }, store, models)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
      sent += models.target.requests.length + models.optimizer.requests.length;
      expect(sent).toBeLessThanOrEqual(needed);
    }
    const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
    await train({ maxCalls: 10_000, finalPasses }, store, models);
    const config = (store: ReturnType<typeof memoryRun>) => store.events.map(toFact).slice(1);
    expect(config(store)).toEqual(config(undisturbed));
    expect(sent + models.target.requests.length + models.optimizer.requests.length, 'nothing is paid twice').toBe(
      needed,
    );
  });

  it('refuses a limit in dollars for a model without a price, before anything is sent', async () => {
    const { isFree: _, ...target } = levelsTarget();
    const models = { target, optimizer: levelsOptimizer() };
    await expect(train({ maxCostUsd: 1 }, memoryRun(), models)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('price'),
    });
    expect(models.target.requests).toEqual([]);
  });

  it('takes a limit in dollars for models that cost nothing', async () => {
    expect((await train({ maxCostUsd: 0.01 })).summary.isDone).toBe(true);
  });

  it('counts dollars by the prices that the config gives', async () => {
    const prices = {
      'levels-target': { input: 1000, cachedInput: 1000, output: 1000 },
      'levels-optimizer': { input: 0, cachedInput: 0, output: 0 },
    };
    await expect(train({ maxCostUsd: 0.0001, prices })).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect((await train({ maxCostUsd: 1_000_000, prices })).summary.isDone).toBe(true);
  });

  it('never lets a server see more attempts than calls, with 64 workers and failures', async () => {
    let count = 0;
    await using server = await startFakeLLM(({ messages }) => {
      count += 1;
      if (count % 5 === 0) return { status: 500, content: 'sorry' };
      return { content: String(levelOf(String(messages?.[0]?.content))) };
    });
    const target = openaiCompatible({ model: 'm', baseURL: server.baseURL });
    const env = levelsEnv({ size: 80 });
    const config = { numEpochs: 1, batchSize: 80, workers: 64, maxCalls: 37, maxRetries: 2 };
    const trainer = new SkillOptTrainer({ env, target, optimizer: levelsOptimizer(), store: memoryRun(), config });
    await expect(trainer.train()).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(server.requests.length).toBeLessThanOrEqual(37);
  });
});
