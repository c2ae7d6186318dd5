import { getEventListeners } from 'node:events';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import type { ChatModel, TextCache } from '../../src/core/contracts/index.ts';
import { remainingCalls } from '../../src/models/index.ts';
import {
  anthropicChat,
  azureChat,
  createBudget,
  createMeter,
  createRateLimiter,
  fromAiSdk,
  googleChat,
  minimaxChat,
  openaiChat,
  openaiCompatible,
  qwenChat,
  scripted,
  withBudget,
  withCircuit,
  withMeter,
  withRateLimit,
  withReplyCache,
  withRetry,
  withTimeout,
} from '../../src/public/models.ts';
import { startFakeLLM } from '../../src/testing/index.ts';

type Answer = () => string | Promise<string>;
type Subject = AsyncDisposable & { readonly model: ChatModel };
type Implementation = (answer: Answer) => Promise<Subject>;

/** Every implementation of `ChatModel`. A new one joins by adding a row. */
const implementations: Record<string, Implementation> = {
  scripted: async (answer) => ({ model: scripted('scripted', answer), async [Symbol.asyncDispose]() {} }),
  openaiCompatible: overHttp(openaiCompatible),
  openaiChat: overHttp(openaiChat),
  azureChat: overHttp(azureChat),
  anthropicChat: overHttp(anthropicChat),
  googleChat: overHttp(googleChat),
  qwenChat: overHttp(qwenChat),
  minimaxChat: overHttp(minimaxChat),
  fromAiSdk: overHttp(({ model, ...options }) => fromAiSdk(createOpenAI(options).responses(model))),
};

type HttpOptions = { readonly model: string; readonly baseURL: string; readonly apiKey: string };

function overHttp(make: (options: HttpOptions) => ChatModel): Implementation {
  return async (answer) => {
    const server = await startFakeLLM(answer);
    const model = make({ model: 'm', baseURL: server.baseURL, apiKey: 'key' });
    return { model, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  };
}

/** Everything that makes a `ChatModel` from another. */
const wrappers: Record<string, (model: ChatModel) => ChatModel> = {
  alone: (model) => model,
  withTimeout: (model) => withTimeout(model, 60_000),
  withBudget: budgeted,
  withRateLimit: paced,
  withRetry: (model) => withRetry(model),
  withCircuit: (model) => withCircuit(model, 8),
  withReplyCache: (model) => withReplyCache(model, memoryCache()),
  withMeter: (model) => withMeter(model, createMeter()),
  'all of them': (model) => {
    const sent = withRetry(paced(budgeted(withTimeout(model, 60_000))));
    return withReplyCache(withMeter(withCircuit(sent, 8), createMeter()), memoryCache());
  },
};

function budgeted(model: ChatModel): ChatModel {
  const budget = createBudget({ maxCalls: 8, maxTotalTokens: 100_000 });
  return withBudget(model, budget, { countTokens: () => 10, defaultMaxOutputTokens: 100 });
}

/** Two at a time, so that of several calls some wait. */
function paced(model: ChatModel): ChatModel {
  return withRateLimit(model, createRateLimiter({ initial: 2, max: 2 }), { remainingCalls });
}

const rows = Object.entries(implementations).flatMap(([name, implementation]) =>
  Object.entries(wrappers).map(([wrapperName, wrap]) => ({ name: `${name}, ${wrapperName}`, implementation, wrap })),
);

const request = { messages: [{ role: 'user' as const, content: 'What is the capital of France?' }] };
const never = () => new Promise<string>(() => {});

describe.each(rows)('$name', ({ implementation, wrap }) => {
  it('replies with text, tokens and the reason of its end', async () => {
    await using subject = await implementation(() => 'Paris');
    const { text, usage, finishReason } = await wrap(subject.model).complete(request);
    expect({ text, finishReason }).toEqual({ text: 'Paris', finishReason: 'stop' });
    for (const tokens of Object.values(usage)) expect(tokens).toBeGreaterThanOrEqual(0);
    expect(Object.keys(usage).sort()).toEqual(['cached', 'input', 'output', 'reasoning']);
  });

  it('answers requests side by side', async () => {
    await using subject = await implementation(() => 'Paris');
    const model = wrap(subject.model);
    const replies = await Promise.all([0, 1, 2, 3].map((sampleIndex) => model.complete({ ...request, sampleIndex })));
    expect(replies.map(({ text }) => text)).toEqual(['Paris', 'Paris', 'Paris', 'Paris']);
  });

  it('rejects with the reason of a signal that has aborted', async () => {
    await using subject = await implementation(() => 'Paris');
    const reason = new Error('stopped before');
    await expect(wrap(subject.model).complete({ ...request, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });

  it('rejects with the reason of a signal that aborts during the call', async () => {
    const controller = new AbortController();
    const reason = new Error('stopped in mid-call');
    await using subject = await implementation(() => {
      setImmediate(() => controller.abort(reason));
      return never();
    });
    await expect(wrap(subject.model).complete({ ...request, signal: controller.signal })).rejects.toBe(reason);
  });

  it('leaves no listener on the signal', async () => {
    await using subject = await implementation(() => 'Paris');
    const { signal } = new AbortController();
    await wrap(subject.model).complete({ ...request, signal });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('keeps its id', async () => {
    await using subject = await implementation(() => 'Paris');
    const model = wrap(subject.model);
    expect(model.id).toBe(subject.model.id);
    await model.complete(request);
    expect(model.id).toBe(subject.model.id);
    expect(model.id).not.toBe('');
  });
});

function memoryCache(): TextCache {
  const entries = new Map<string, string>();
  return { get: async (key) => entries.get(key), set: async (key, value) => void entries.set(key, value) };
}
