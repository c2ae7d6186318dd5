import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV2, LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ModelCallError } from '../../../src/core/contracts/index.ts';
import { fromAiSdk } from '../../../src/public/models.ts';
import { startFakeLLM } from '../../../src/testing/index.ts';

const apiKey = 'live-3141592653589793';
const request = { messages: [{ role: 'user' as const, content: 'the whole secret prompt' }] };
const usage = {
  inputTokens: { total: 100, noCache: 20, cacheRead: 80, cacheWrite: undefined },
  outputTokens: { total: 30, text: 10, reasoning: 20 },
};
const result = {
  content: [{ type: 'text' as const, text: 'hi' }],
  finishReason: { unified: 'stop' as const, raw: 'stop' },
  usage,
  warnings: [],
};

/** A model object of one's own. */
function languageModel(doGenerate: (options: LanguageModelV3CallOptions) => Promise<unknown>): LanguageModelV3 {
  const model = { specificationVersion: 'v3', provider: 'acme', modelId: 'm', supportedUrls: {}, doGenerate };
  return model as unknown as LanguageModelV3;
}

function rejection(call: Promise<unknown>): Promise<ModelCallError> {
  return call.then(
    () => expect.unreachable('the call should have failed'),
    (error) => error,
  );
}

afterEach(() => vi.unstubAllEnvs());

describe('a model of the AI SDK', () => {
  it('gets the request in its own words', async () => {
    const calls: LanguageModelV3CallOptions[] = [];
    const providerOptions = { acme: { mood: 'calm' } };
    const own = languageModel(async (options) => {
      calls.push(options);
      return result;
    });
    const model = fromAiSdk(own, { temperature: 0.5, sendSeed: true, providerOptions });
    const messages = [{ role: 'system' as const, content: 'Be brief.' }, ...request.messages];
    expect((await model.complete({ messages, maxOutputTokens: 9, sampleIndex: 2, stage: 'rollout' })).text).toBe('hi');
    expect(calls).toEqual([
      {
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: [{ type: 'text', text: 'the whole secret prompt' }] },
        ],
        maxOutputTokens: 9,
        temperature: 0.5,
        seed: 2,
        providerOptions,
        abortSignal: expect.any(AbortSignal),
      },
    ]);
  });

  it('replies with text, tokens and the reason of its end', async () => {
    const reasoning = { type: 'reasoning', text: 'hmm' };
    const content = [reasoning, { type: 'text', text: 'h' }, { type: 'text', text: 'i' }];
    const model = fromAiSdk(languageModel(async () => ({ ...result, content })));
    expect(await model.complete(request)).toEqual({
      text: 'hi',
      usage: { input: 100, cached: 80, output: 30, reasoning: 20 },
      finishReason: 'stop',
    });
  });

  it('may follow the second version of the specification', async () => {
    const older = {
      ...result,
      finishReason: 'length',
      usage: { inputTokens: 100, cachedInputTokens: 80, outputTokens: 30, reasoningTokens: 20, totalTokens: 130 },
    };
    const own = { ...languageModel(async () => older), specificationVersion: 'v2' } as unknown as LanguageModelV2;
    expect(await fromAiSdk(own).complete(request)).toEqual({
      text: 'hi',
      usage: { input: 100, cached: 80, output: 30, reasoning: 20 },
      finishReason: 'length',
    });
  });

  it('need not count tokens', async () => {
    const inputTokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const outputTokens = { total: undefined, text: undefined, reasoning: undefined };
    const none = { input: 0, cached: 0, output: 0, reasoning: 0 };
    const model = fromAiSdk(languageModel(async () => ({ ...result, usage: { inputTokens, outputTokens } })));
    expect((await model.complete(request)).usage).toEqual(none);
    const older = { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined };
    const olderModel = fromAiSdk(languageModel(async () => ({ ...result, finishReason: 'stop', usage: older })));
    expect((await olderModel.complete(request)).usage).toEqual(none);
  });

  it('of any provider works as it is', async () => {
    await using server = await startFakeLLM(['from chat', 'from responses', 'from messages']);
    const options = { baseURL: server.baseURL, apiKey };
    const openai = createOpenAI(options);
    const models = [openai.chat('m'), openai.responses('m'), createAnthropic(options)('m')];
    const replies = [];
    for (const model of models) replies.push(await fromAiSdk(model).complete(request));
    expect(replies).toMatchObject([
      { text: 'from chat', finishReason: 'stop' },
      { text: 'from responses', finishReason: 'stop' },
      { text: 'from messages', finishReason: 'stop' },
    ]);
    for (const { messages } of server.requests) expect(messages).toEqual(request.messages);
  });
});

describe('an id', () => {
  const own = languageModel(async () => result);

  it.each([
    [{}, 'acme:m'],
    [{ id: 'mine' }, 'mine'],
    [{ id: 'mine', temperature: 0, secrets: [apiKey] }, 'mine?temperature=0'],
    [
      { sendSeed: true, providerOptions: { acme: { mood: 'calm' } } },
      'acme:m?seed=sampleIndex&providerOptions={"acme":{"mood":"calm"}}',
    ],
  ])('with %j is %s', (options, id) => {
    expect(fromAiSdk(own, options).id).toBe(id);
  });

  it('cannot be told of a function', () => {
    expect(() => fromAiSdk(async () => own)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', hint: expect.stringContaining('id:') }),
    );
  });
});

describe('a model that is loaded', () => {
  it('is loaded by the first calls, once', async () => {
    let loads = 0;
    const load = async () => {
      loads++;
      return languageModel(async () => result);
    };
    const model = fromAiSdk(load, { id: 'late' });
    expect(loads).toBe(0);
    await Promise.all([model.complete(request), model.complete(request)]);
    await model.complete(request);
    expect(loads).toBe(1);
  });

  it('may fail to load, and then load after all', async () => {
    let loads = 0;
    const load = () => {
      if (loads++ === 0) throw new Error(`no such package, and ${apiKey} is no help`);
      return Promise.resolve(languageModel(async () => result));
    };
    const model = fromAiSdk(load, { id: 'late', secrets: [apiKey] });
    expect(await rejection(model.complete(request))).toMatchObject({
      name: 'ModelCallError',
      message: 'late could not be loaded: no such package, and … is no help',
      isRetryable: false,
      isFatal: true,
    });
    expect((await model.complete(request)).text).toBe('hi');
  });

  it('is not waited for after an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const model = fromAiSdk(() => new Promise(() => {}), { id: 'late' });
    const call = model.complete({ ...request, signal: controller.signal });
    controller.abort(reason);
    expect(await rejection(call)).toBe(reason);
  });
});

describe('a failure', () => {
  it('of the provider is told without secrets and without the prompt', async () => {
    await using server = await startFakeLLM([{ status: 401, content: `not ${apiKey}` }]);
    const openai = createOpenAI({ baseURL: server.baseURL, apiKey });
    const error = await rejection(fromAiSdk(openai.chat('m'), { secrets: [apiKey] }).complete(request));
    expect(error).toMatchObject({
      name: 'ModelCallError',
      message: 'openai.chat:m answered 401: not …',
      status: 401,
      isRetryable: false,
      hint: 'Check the variable that holds the API key for this provider.',
    });
    expect(`${JSON.stringify(error)} ${error.stack} ${error.cause}`).not.toMatch(/31415|secret prompt/);
  });

  it.each([
    [404, { hint: 'Check the name of the model.', isRetryable: false }],
    [429, { retryAfterMs: 2_000, isRetryable: true }],
    [500, { isRetryable: true }],
  ])('by status %i says what to do', async (status, expected) => {
    await using server = await startFakeLLM([{ status, headers: { 'retry-after': '2' }, content: 'no' }]);
    const openai = createOpenAI({ baseURL: server.baseURL, apiKey });
    expect(await rejection(fromAiSdk(openai.chat('m')).complete(request))).toMatchObject({ status, ...expected });
  });

  it('before anything was sent is not worth another try', async () => {
    vi.stubEnv('OPENAI_API_KEY', undefined);
    const error = await rejection(fromAiSdk(createOpenAI().chat('m')).complete(request));
    expect(error).toMatchObject({ name: 'ModelCallError', isRetryable: false, isFatal: true });
    expect(error.message).toMatch(/^openai.chat:m could not be asked: .*API key/);
  });

  it('to connect is worth another try', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const openai = createOpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey });
    const error = await rejection(fromAiSdk(openai.chat('m')).complete(request));
    expect(error).toMatchObject({ isRetryable: true, hint: 'Is the server running at its address?' });
  });

  it('to read a reply is worth another try', async () => {
    await using server = await startFakeLLM([{ body: '{"choices":[]}' }]);
    const openai = createOpenAI({ baseURL: server.baseURL, apiKey });
    const error = await rejection(fromAiSdk(openai.chat('m')).complete(request));
    expect(error).toMatchObject({ isRetryable: true, message: expect.stringContaining('no readable chat completion') });
  });

  it.each([
    ['stop', true],
    ['length', false],
    ['content-filter', false],
    ['error', true],
  ])('to say anything, with reason %s', async (unified, isRetryable) => {
    const silent = { ...result, content: [], finishReason: { unified, raw: unified } };
    const error = await rejection(fromAiSdk(languageModel(async () => silent)).complete(request));
    expect(error).toMatchObject({ name: 'ModelCallError', isRetryable });
  });

  it('to listen to a signal does not hold up an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const own = languageModel(() => {
      setImmediate(() => controller.abort(reason));
      return new Promise(() => {});
    });
    expect(await rejection(fromAiSdk(own).complete({ ...request, signal: controller.signal }))).toBe(reason);
  });

  it('that is thrown because of an abort is the reason of that', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const own = languageModel(async () => {
      controller.abort(reason);
      throw new Error('some other words');
    });
    expect(await rejection(fromAiSdk(own).complete({ ...request, signal: controller.signal }))).toBe(reason);
  });
});
