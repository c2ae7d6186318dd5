import fc from 'fast-check';
import { type ChatModel, memoryRun, SkillOptTrainer } from 'skillopt';
import { createBudget, openaiCompatible, withBudget } from 'skillopt/models';
import { type FakeAnswer, scripted, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { expectEvery } from '../../support/expect-every.ts';
import { levelOf, levelsEnv, levelsOptimizer } from '../../support/levels.ts';

const train = (target: ChatModel, config: object, store = memoryRun()) =>
  new SkillOptTrainer({
    env: levelsEnv(),
    target,
    optimizer: levelsOptimizer(),
    store,
    config: { numEpochs: 1, batchSize: 4, ...config },
  }).train();

/** Chat completions whose usage is what the case says. */
const body = (content: string, usage: unknown) =>
  JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }], usage });

const tokens = (prompt: number, completion: number) => ({ prompt_tokens: prompt, completion_tokens: completion });

describe('a server whose usage cannot be', () => {
  it.each([
    ['left out', undefined],
    ['null', null],
    ['none', tokens(0, 0)],
    ['less than none', tokens(-10_000_000, -10_000_000)],
    ['more than any', tokens(1e300, 1e300)],
    ['of the reply left out', { prompt_tokens: 40 }],
  ])('is charged by our own count: %s', async (_, usage) => {
    await using server = await startFakeLLM(
      ({ messages }): FakeAnswer => ({ body: body(String(levelOf(messages[0]!.content)), usage) }),
    );
    const target = openaiCompatible({ model: 'm', baseURL: server.baseURL });
    const store = memoryRun();
    await expect(train(target, { maxTotalTokens: 30_000 }, store)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(server.requests.length).toBeGreaterThan(9);
    const { input, output } = store.events.flatMap((event) => event.usage?.rollout ?? [])[0]!;
    expect(input).toBeGreaterThan(9 * 10);
    expect(output).toBeGreaterThanOrEqual(9);
    expect(input + output).toBeLessThan(30_000);
  });
});

it('an agent that counts no tokens is charged too, in dollars', async () => {
  const usage = { input: 0, cached: 0, output: 0, reasoning: 0 };
  const silent = scripted('levels-target', ({ messages }) => ({ text: String(levelOf(messages[0]!.content)), usage }));
  const prices = { 'levels-target': { input: 1000, cachedInput: 1000, output: 1000 } };
  await expect(train(silent, { maxCostUsd: 20, prices })).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
});

it('whatever usage a model names, what is spent never falls, and tokens are whole', async () => {
  const figure = fc.oneof(fc.integer(), fc.double(), fc.constant(undefined), fc.constant(null), fc.constant('7'));
  const usage = fc.option(fc.record({ input: figure, cached: figure, output: figure, reasoning: figure }));
  await fc.assert(
    fc.asyncProperty(fc.array(usage, { maxLength: 5 }), async (usages) => {
      const budget = createBudget({ maxTotalTokens: 1e12 });
      const price = { input: 1, cachedInput: 0.1, output: 2 };
      const replies = [...usages];
      const model = scripted('m', () => ({ text: 'some text', usage: replies.shift() as never }));
      const within = withBudget(model, budget, { price, countTokens: () => 12 });
      let before = budget.spent();
      for (const _ of usages) {
        const reply = await within.complete({ messages: [{ role: 'user', content: 'a question' }] });
        expect(reply.usage.input).toBeGreaterThan(0);
        expectEvery(Object.values(reply.usage), Number.isInteger);
        expect(reply.usage.cached).toBeLessThanOrEqual(reply.usage.input);
        expect(budget.spent().totalTokens).toBeGreaterThan(before.totalTokens);
        expect(budget.spent().costUsd).toBeGreaterThanOrEqual(before.costUsd);
        before = budget.spent();
      }
    }),
  );
});
