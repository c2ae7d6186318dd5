import { expect, it } from 'vitest';
import { type ChatMessage, ModelCallError } from '../../../../src/core/contracts/index.ts';
import {
  type Amounts,
  createBudget,
  openaiCompatible,
  scripted,
  type WithBudgetOptions,
  withBudget,
  withRetry,
} from '../../../../src/public/models.ts';
import { startFakeLLM } from '../../../../src/testing/index.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }], maxOutputTokens: 50 };
const price = { input: 1_000_000, cachedInput: 100_000, output: 2_000_000 }; // a dollar per token, ten cents, two dollars
const options: WithBudgetOptions = { price, countTokens: () => 10, tokenMargin: 1 };
const usage = { input: 8, cached: 6, output: 20, reasoning: 5 };

/** What is set aside while the model is at work. */
async function boundOf(overrides: Partial<WithBudgetOptions>, given: typeof request | object = request) {
  const budget = createBudget({ maxTotalTokens: 1_000_000 });
  let bound: Amounts | undefined;
  const model = scripted('model', () => {
    bound = budget.reserved();
    return 'hi';
  });
  await withBudget(model, budget, { ...options, ...overrides }).complete({ ...request, ...given });
  return bound;
}

it('sets aside the input and the longest reply, at their prices', async () => {
  expect(await boundOf({})).toEqual({ calls: 1, totalTokens: 60, costUsd: 110 });
});

it('sets aside more input than was counted, since models count differently', async () => {
  expect(await boundOf({ tokenMargin: 1.25 })).toMatchObject({ totalTokens: 63 });
});

it('sets aside a default for a reply without a limit', async () => {
  const { maxOutputTokens: _, ...unlimited } = request;
  const budget = createBudget({ maxTotalTokens: 1_000 });
  const model = scripted('model', () => 'hi');
  const limited = withBudget(model, budget, { ...options, defaultMaxOutputTokens: 991 });
  await expect(limited.complete(unlimited)).rejects.toThrow('the next call may take up to 1,001');
  expect(model.requests).toEqual([]);
});

it('counts no dollars for a model without a price', async () => {
  expect(await boundOf({ price: undefined })).toEqual({ calls: 1, totalTokens: 60, costUsd: 0 });
});

it('counts the messages that are sent', async () => {
  const counted: (readonly ChatMessage[])[] = [];
  await boundOf({ countTokens: async (messages) => counted.push(messages) });
  expect(counted).toEqual([request.messages]);
});

it('sets calls alone aside, and counts no tokens, where neither tokens nor dollars are limited', async () => {
  const countTokens = () => expect.unreachable('nobody needs to know');
  const budget = createBudget({ maxCalls: 5 });
  const model = scripted('model', () => ({ text: 'hi', usage }));
  await withBudget(model, budget, { ...options, countTokens }).complete(request);
  expect(budget.spent()).toEqual({ calls: 1, totalTokens: 28, costUsd: 42.6 });
});

it('settles with what the reply used, cached input at its own price', async () => {
  const budget = createBudget({ maxCostUsd: 1_000 });
  const model = scripted('model', () => ({ text: 'hi', usage }));
  await withBudget(model, budget, options).complete(request);
  expect(budget.spent()).toEqual({ calls: 1, totalTokens: 28, costUsd: 2 + 0.6 + 40 });
  expect(budget.reserved()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
});

it('settles a refused attempt as a call without tokens, and throws its error', async () => {
  const budget = createBudget({ maxTotalTokens: 1_000_000 });
  const error = new ModelCallError('down', { status: 503 });
  const model = scripted('model', () => {
    throw error;
  });
  await expect(withBudget(model, budget, options).complete(request)).rejects.toBe(error);
  expect(budget.spent()).toEqual({ calls: 1, totalTokens: 0, costUsd: 0 });
  expect(budget.reserved().calls).toBe(0);
});

it.each([
  ['a time-out', new ModelCallError('no answer within 120 s', { isRetryable: true })],
  ['an abort', new Error('Ctrl-C')],
  ['an unreadable reply', new ModelCallError('no readable chat completion', { status: 200 })],
])('settles %s with all that was set aside, since it may have been billed', async (_, error) => {
  const budget = createBudget({ maxTotalTokens: 1_000_000 });
  const model = scripted('model', () => {
    throw error;
  });
  await expect(withBudget(model, budget, options).complete(request)).rejects.toBe(error);
  expect(budget.spent()).toEqual({ calls: 1, totalTokens: 60, costUsd: 110 });
});

it.each([
  [{ maxTotalTokens: 100_000 }, 16_384],
  [{ maxCostUsd: 100_000 }, 16_384],
  [{ maxCalls: 1 }, undefined],
])('sends the limit that it set aside for a reply when %j needs one', async (limits, sent) => {
  const { maxOutputTokens, ...unlimited } = request;
  const model = scripted('model', () => 'hi');
  await withBudget(model, createBudget(limits), options).complete(unlimited);
  await withBudget(model, createBudget(limits), options).complete(request);
  expect(model.requests.map((each) => each.maxOutputTokens)).toEqual([sent, maxOutputTokens]);
});

it('counts the tokens that an error says it cost', async () => {
  const budget = createBudget({ maxTotalTokens: 1_000_000 });
  const error = Object.assign(new ModelCallError('cut before any text came'), { usage });
  const model = scripted('model', () => {
    throw error;
  });
  await expect(withBudget(model, budget, options).complete(request)).rejects.toBe(error);
  expect(budget.spent()).toMatchObject({ calls: 1, totalTokens: 28 });
});

it('sends nothing that the budget cannot pay for, and no retry mends that', async () => {
  const budget = createBudget({ maxCalls: 1 });
  const model = scripted('model', () => 'hi');
  const limited = withRetry(withBudget(model, budget, options));
  await limited.complete(request);
  await expect(limited.complete(request)).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
  expect(model.requests).toHaveLength(1);
});

it('lets a server see as many attempts as there may be calls, retries and all', async () => {
  let attempts = 0;
  await using server = await startFakeLLM(() => (++attempts % 3 === 0 ? { status: 503 } : 'hi'));
  const endpoint = openaiCompatible({ model: 'm', baseURL: server.baseURL });
  const budget = createBudget({ maxCalls: 25 });
  const model = withRetry(withBudget(endpoint, budget, options), { delay: async () => {} });
  const outcomes = await Promise.allSettled(Array.from({ length: 64 }, () => model.complete(request)));
  expect(attempts).toBe(25);
  expect(budget.spent().calls).toBe(25);
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason.code);
  expect(new Set(failures)).toEqual(new Set(['BUDGET_EXHAUSTED']));
});

it.each(['signal', 'request.signal'])('sends nothing after %s has aborted', async (which) => {
  const reason = new Error('Ctrl-C');
  const signal = AbortSignal.abort(reason);
  const model = scripted('model', () => 'hi');
  const budget = createBudget({ maxTotalTokens: 1_000_000 });
  const limited = withBudget(model, budget, which === 'signal' ? { ...options, signal } : options);
  await expect(limited.complete(which === 'signal' ? request : { ...request, signal })).rejects.toBe(reason);
  expect(model.requests).toEqual([]);
  expect(budget.reserved().calls).toBe(0);
});

it('refuses a limit in dollars without a price, before any call', () => {
  const model = scripted('compatible:m', () => 'hi');
  const wrap = () => withBudget(model, createBudget({ maxCostUsd: 5 }), { ...options, price: undefined });
  expect(wrap).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: 'a limit in dollars needs the price of compatible:m, which is not known',
    }),
  );
});
