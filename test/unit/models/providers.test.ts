import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ChatModel, ModelCallError } from '../../../src/core/contracts/index.ts';
import {
  anthropicChat,
  azureChat,
  googleChat,
  minimaxChat,
  openaiChat,
  openaiCompatible,
  qwenChat,
  withRetry,
} from '../../../src/public/models.ts';
import { type FakeAnswer, startFakeLLM } from '../../../src/testing/index.ts';

const apiKey = 'live-3141592653589793';
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'the whole secret prompt' },
  { role: 'assistant', content: 'Yes?' },
  { role: 'user', content: 'Now.' },
] as const;

type Row = {
  readonly make: (options: { model: string; baseURL: string; apiKey?: string; temperature?: number }) => ChatModel;
  /** The header that carries the key. */
  readonly header: (headers: Record<string, unknown>) => unknown;
  readonly path: string;
  /** The spelling of the provider. */
  readonly cut: string;
  readonly filtered: string;
  readonly usage: Record<string, unknown>;
  readonly variable?: string;
};

const chatCompletions = {
  header: ({ authorization }: Record<string, unknown>) => authorization,
  path: '/v1/chat/completions',
  cut: 'length',
  filtered: 'content_filter',
  usage: {
    prompt_tokens: 100,
    completion_tokens: 30,
    prompt_tokens_details: { cached_tokens: 80 },
    completion_tokens_details: { reasoning_tokens: 20 },
  },
};

const rows: Record<string, Row> = {
  openaiChat: { ...chatCompletions, make: openaiChat, variable: 'OPENAI_API_KEY' },
  azureChat: {
    ...chatCompletions,
    make: azureChat,
    header: (headers) => headers['api-key'],
    variable: 'AZURE_OPENAI_API_KEY',
  },
  qwenChat: { ...chatCompletions, make: qwenChat },
  minimaxChat: { ...chatCompletions, make: minimaxChat, variable: 'MINIMAX_API_KEY' },
  openaiCompatible: { ...chatCompletions, make: openaiCompatible },
  anthropicChat: {
    make: anthropicChat,
    header: (headers) => headers['x-api-key'],
    path: '/v1/messages',
    cut: 'max_tokens',
    filtered: 'refusal',
    usage: {
      input_tokens: 15,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 80,
      output_tokens: 30,
      output_tokens_details: { thinking_tokens: 20 },
    },
    variable: 'ANTHROPIC_API_KEY',
  },
  googleChat: {
    make: googleChat,
    header: (headers) => headers['x-goog-api-key'],
    path: '/v1/models/m:generateContent',
    cut: 'MAX_TOKENS',
    filtered: 'SAFETY',
    usage: {
      promptTokenCount: 100,
      cachedContentTokenCount: 80,
      candidatesTokenCount: 10,
      thoughtsTokenCount: 20,
    },
    variable: 'GEMINI_API_KEY',
  },
};

const variables = Object.values(rows).flatMap(({ variable }) => variable ?? []);

beforeEach(() => {
  for (const name of [...variables, 'AZURE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']) vi.stubEnv(name, undefined);
  for (const name of ['AZURE_OPENAI_ENDPOINT', 'AZURE_RESOURCE_NAME']) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

function rejection(call: Promise<unknown>): Promise<ModelCallError> {
  return call.then(
    () => expect.unreachable('the call should have failed'),
    (error) => error,
  );
}

describe.each(Object.entries(rows))('%s', (name, { make, header, path, cut, filtered, usage, variable }) => {
  /** What a call against a server that gives `answer` is rejected with. */
  async function failureOf(answer: FakeAnswer): Promise<ModelCallError> {
    await using server = await startFakeLLM([answer]);
    return await rejection(make({ model: 'm', baseURL: server.baseURL, apiKey }).complete({ messages }));
  }

  it('sends the messages and the key to where they belong', async () => {
    await using server = await startFakeLLM(['hi']);
    const model = make({ model: 'm', baseURL: `${server.baseURL}/?team=blue`, apiKey });
    expect((await model.complete({ messages, stage: 'rollout' })).text).toBe('hi');
    expect(server.requests[0]?.messages).toEqual(messages);
    expect(server.urls).toEqual([`${path}?team=blue`]);
    expect(header(server.headers[0] ?? {})).toMatch(new RegExp(`^(Bearer )?${apiKey}$`));
    expect(model.id).not.toContain(apiKey);
  });

  it('sends the temperature and the limit of the request', async () => {
    await using server = await startFakeLLM(['hi', 'hi']);
    const model = make({ model: 'm', baseURL: server.baseURL, apiKey, temperature: 0.25 });
    await model.complete({ messages, maxOutputTokens: 99 });
    await model.complete({ messages, temperature: 0.5 });
    expect(JSON.stringify(server.requests[0])).toMatch(/"temperature":0.25\b/);
    expect(JSON.stringify(server.requests[0])).toMatch(/"max\w+":99\b/i);
    expect(JSON.stringify(server.requests[1])).toMatch(/"temperature":0.5\b/);
    expect(model.id).toContain('temperature=0.25');
  });

  it('counts tokens, those of the cache and of reasoning among them', async () => {
    await using server = await startFakeLLM([{ content: 'hi', usage }]);
    const reply = await make({ model: 'm', baseURL: server.baseURL, apiKey }).complete({ messages });
    expect(reply).toEqual({
      text: 'hi',
      usage: { input: 100, cached: 80, output: 30, reasoning: 20 },
      finishReason: 'stop',
    });
  });

  it('says when the limit cut the reply', async () => {
    await using server = await startFakeLLM([{ content: 'h', finishReason: cut }]);
    const reply = await make({ model: 'm', baseURL: server.baseURL, apiKey }).complete({ messages });
    expect(reply.finishReason).toBe('length');
  });

  it('does not try a refused key again, and does not show it', async () => {
    const error = await failureOf({ status: 401, content: `wrong key ${apiKey}` });
    expect(error).toMatchObject({ name: 'ModelCallError', status: 401, isRetryable: false });
    expect(error.hint).toContain('API key');
    expect(error.message).toMatch(/^m at 127.0.0.1:\d+\/v1 answered 401: wrong key …$/);
    expect(`${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toMatch(/31415|secret prompt/);
  });

  it('says what is added to the base URL when nothing is there', async () => {
    const error = await failureOf({ status: 404, content: 'no such model' });
    expect(error).toMatchObject({ status: 404, isRetryable: false });
    expect(error.hint).toContain(`${path.replace('/v1', '')} is added to it`);
  });

  it('waits as long as it is asked to', async () => {
    const error = await failureOf({ status: 429, headers: { 'retry-after': '3' }, content: 'slow down' });
    expect(error).toMatchObject({ status: 429, isRetryable: true, retryAfterMs: 3_000 });
    expect(error.message).toContain('slow down');
  });

  it.each<[string, FakeAnswer]>([
    ['a 500', { status: 500, content: 'oops' }],
    ['a 503 that is a page', { status: 503, body: '<title>Busy</title>' }],
    ['a page', { body: '<!doctype html><title>Restarting</title>' }],
    ['an empty object', { body: '{}' }],
    ['no choices', { body: '{"id":"x","choices":[],"candidates":[],"type":"message","content":[]}' }],
    ['a torn body', { content: 'hi', tornAt: 20 }],
    ['a reset', { destroy: true }],
    ['no text', { content: '' }],
    ['only white space', { content: ' \n' }],
  ])('tries again after %s', async (_what, answer) => {
    expect(await failureOf(answer)).toMatchObject({ name: 'ModelCallError', isRetryable: true });
  });

  it.each([
    [cut, 'token limit'],
    [filtered, 'content filter'],
  ])('does not try again when %s left no text', async (finishReason, words) => {
    const error = await failureOf({ content: '', finishReason });
    expect(error).toMatchObject({ isRetryable: false, message: expect.stringContaining(words) });
  });

  if (variable === undefined) return;
  it('finds its key in the environment, and else says what to type', async () => {
    await using server = await startFakeLLM(['hi']);
    const keyless = { model: 'm', baseURL: server.baseURL };
    expect(() => make(keyless)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(`${name} needs a key`) }),
    );
    expect(() => make(keyless)).toThrow(
      expect.objectContaining({ hint: expect.stringMatching(/^Set it: export \w+=…/) }),
    );
    vi.stubEnv(variable, apiKey);
    await make(keyless).complete({ messages });
    expect(header(server.headers[0] ?? {})).toContain(apiKey);
  });
});

describe('openaiChat', () => {
  it('limits by max_completion_tokens and asks for reasoning', async () => {
    await using server = await startFakeLLM(['hi', 'hi']);
    const options = { model: 'of-my-own', baseURL: server.baseURL, apiKey, temperature: 0 };
    const model = openaiChat({ ...options, reasoningEffort: 'low', sendSeed: true });
    await model.complete({ messages, maxOutputTokens: 9, sampleIndex: 3 });
    await openaiChat({ ...options, reasoningEffort: 'none' }).complete({ messages });
    expect(server.requests[0]).toMatchObject({ max_completion_tokens: 9, reasoning_effort: 'low', seed: 3 });
    expect(server.requests[0]).not.toHaveProperty('temperature'); // models that reason refuse it
    expect(server.requests[0]).not.toHaveProperty('max_tokens');
    expect(server.requests[1]).toMatchObject({ reasoning_effort: 'none', temperature: 0 });
    expect(model.id).toMatch(
      /^openai:of-my-own@127.0.0.1:\d+\/v1\?temperature=0&seed=sampleIndex&reasoningEffort=low&structuredOutput=auto$/,
    );
  });

  it.each(['gpt-5-codex', 'gpt-5.1-codex-max', 'codex-mini-latest', 'o3-pro', 'gpt-5.4-pro', 'gpt-5-pro-2025-10-06'])(
    'asks %s over Responses, which alone serves it',
    async (model) => {
      await using server = await startFakeLLM(['hi']);
      const options = { model, baseURL: server.baseURL, apiKey, reasoningEffort: 'low', sendSeed: true } as const;
      const reply = await openaiChat(options).complete({ messages, maxOutputTokens: 90 });
      expect(reply).toMatchObject({ text: 'hi', usage: { input: 3, output: 2 }, finishReason: 'stop' });
      expect(server.urls).toEqual(['/v1/responses']);
      expect(server.requests[0]).toMatchObject({ max_output_tokens: 90, reasoning: { effort: 'low' }, store: false });
    },
  );

  it.each(['gpt-5', 'gpt-4o', 'gemini-2.5-pro', 'my-codex', 'gpt-5-proxy'])(
    'asks %s over Chat Completions',
    async (model) => {
      await using server = await startFakeLLM(['hi', 'hi']);
      const options = { model, baseURL: server.baseURL, apiKey };
      await openaiChat(options).complete({ messages });
      await openaiChat({ ...options, api: 'responses' }).complete({ messages });
      expect(server.urls).toEqual(['/v1/chat/completions', '/v1/responses']);
    },
  );

  it.each([
    ['openaiChat', 'gpt-5', 'Unrecognized request argument supplied: max_completion_tokens'],
    [
      'openaiCompatible',
      'm',
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
  ])('%s names its limit otherwise where the server refuses the name', async (provider, model, content) => {
    await using server = await startFakeLLM([{ status: 400, content }, 'hi', 'hi']);
    const options = { model, baseURL: server.baseURL, apiKey };
    const chat = withRetry(provider === 'openaiChat' ? openaiChat(options) : openaiCompatible(options), {
      maxRetries: 1,
    });
    for (let call = 0; call < 2; call++) await chat.complete({ messages, maxOutputTokens: 9 });
    const [refused, ...taken] = server.requests;
    const [old, wanted] =
      provider === 'openaiChat' ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens', 'max_completion_tokens'];
    expect(refused).toHaveProperty(old!, 9);
    for (const request of taken) {
      expect(request).toHaveProperty(wanted!, 9);
      expect(request).not.toHaveProperty(old!);
    }
  });

  it('goes to OpenAI unless told', () => {
    expect(openaiChat({ model: 'm', apiKey }).id).toBe('openai:m@api.openai.com/v1?structuredOutput=auto');
    expect(openaiChat({ model: 'm', apiKey, structuredOutput: 'off' }).id).toBe('openai:m@api.openai.com/v1');
  });
});

describe('anthropicChat', () => {
  it('marks the system prompt, and nothing else, for the cache', async () => {
    await using server = await startFakeLLM(['hi', 'hi']);
    const model = anthropicChat({ model: 'm', baseURL: server.baseURL, apiKey });
    await model.complete({ messages });
    await model.complete({ messages: [{ role: 'user', content: 'no system prompt' }] });
    expect(server.requests[0]?.system).toEqual([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
    ]);
    expect(JSON.stringify(server.requests).split('cache_control')).toHaveLength(2);
  });

  it.each([
    ['disabled', 'thinking=disabled', { type: 'disabled' }],
    ['adaptive', 'thinking=adaptive', { type: 'adaptive' }],
    [{ budgetTokens: 2_000 }, 'thinking={"budgetTokens":2000}', { type: 'enabled', budget_tokens: 2_000 }],
  ] as const)('thinks as told: %j', async (thinking, setting, sent) => {
    await using server = await startFakeLLM(['hi']);
    const model = anthropicChat({ model: 'm', baseURL: server.baseURL, apiKey, thinking, effort: 'low' });
    await model.complete({ messages });
    expect(server.requests[0]).toMatchObject({ thinking: sent, output_config: { effort: 'low' } });
    expect(model.id).toContain(`?${setting}&effort=low`);
  });

  it('leaves thoughts out of the text', async () => {
    const content = [
      { type: 'thinking', thinking: 'hmm', signature: 's' },
      { type: 'text', text: 'hi' },
    ];
    const body = {
      type: 'message',
      id: 'x',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    await using server = await startFakeLLM([{ body: JSON.stringify(body) }]);
    const reply = await anthropicChat({ model: 'm', baseURL: server.baseURL, apiKey }).complete({ messages });
    expect(reply.text).toBe('hi');
  });
});

describe('googleChat', () => {
  it('thinks as told', async () => {
    await using server = await startFakeLLM(['hi', 'hi']);
    const options = { model: 'm', baseURL: server.baseURL, apiKey };
    const model = googleChat({ ...options, thinkingBudget: 0, sendSeed: true });
    await model.complete({ messages, sampleIndex: 2 });
    await googleChat({ ...options, thinkingLevel: 'low' }).complete({ messages });
    expect(server.requests).toMatchObject([
      { generationConfig: { seed: 2, thinkingConfig: { thinkingBudget: 0 } } },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'low' } } },
    ]);
    expect(model.id).toContain('thinkingBudget=0');
  });

  it('prefers the longer name of its variable', async () => {
    await using server = await startFakeLLM(['hi']);
    vi.stubEnv('GEMINI_API_KEY', 'short-name');
    vi.stubEnv('GOOGLE_GENERATIVE_AI_API_KEY', 'long-name');
    await googleChat({ model: 'm', baseURL: server.baseURL }).complete({ messages });
    expect(server.headers[0]?.['x-goog-api-key']).toBe('long-name');
  });
});

describe('azureChat', () => {
  const host = 'contoso.openai.azure.com/openai';

  it.each([
    [{ resource: 'contoso' }, `azure:m@${host}`],
    [{ baseURL: 'https://contoso.openai.azure.com/' }, `azure:m@${host}`],
    [{ baseURL: 'https://contoso.openai.azure.com/openai/v1/' }, `azure:m@${host}/v1`],
    [
      { baseURL: 'https://contoso.openai.azure.com/openai/v1', apiVersion: '2024-12-01-preview' },
      `azure:m@${host}?apiVersion=2024-12-01-preview`,
    ],
    [{ baseURL: 'https://gateway.test/azure' }, 'azure:m@gateway.test/azure'],
  ])('finds the resource in %j', (address, id) => {
    expect(azureChat({ model: 'm', apiKey, structuredOutput: 'off', ...address }).id).toBe(id);
  });

  it('finds the resource in the environment, and else says what to name', () => {
    expect(() => azureChat({ model: 'm', apiKey })).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', hint: expect.stringContaining('AZURE_OPENAI_ENDPOINT') }),
    );
    vi.stubEnv('AZURE_RESOURCE_NAME', 'contoso');
    expect(azureChat({ model: 'm', apiKey }).id).toContain('contoso.openai.azure.com');
    vi.stubEnv('AZURE_OPENAI_ENDPOINT', 'https://fabrikam.openai.azure.com');
    expect(azureChat({ model: 'm', apiKey }).id).toContain('fabrikam.openai.azure.com/openai');
  });

  it('asks a deployment named after a model of Responses where that is', async () => {
    await using server = await startFakeLLM(['hi']);
    const options = { model: 'gpt-5-codex', baseURL: server.baseURL, apiKey, apiVersion: '2024-12-01-preview' };
    await azureChat(options).complete({ messages });
    expect(server.urls).toEqual(['/v1/responses']);
  });

  it('asks a dated version by its deployment', async () => {
    await using server = await startFakeLLM(['hi']);
    const options = { model: 'mine', baseURL: server.baseURL, apiKey, apiVersion: '2024-12-01-preview' };
    await azureChat({ ...options, reasoningEffort: 'medium' }).complete({ messages, maxOutputTokens: 9 });
    expect(server.urls).toEqual(['/v1/deployments/mine/chat/completions?api-version=2024-12-01-preview']);
    expect(server.requests[0]).toMatchObject({ max_completion_tokens: 9, reasoning_effort: 'medium' });
  });

  it('takes a token in place of a key, and shows neither', async () => {
    const tokens = ['first-token-27182', 'second-token-81828'];
    await using server = await startFakeLLM(['hi', { status: 401, content: 'expired: second-token-81828' }]);
    const model = azureChat({ model: 'm', baseURL: server.baseURL, token: async () => tokens.shift()! });
    await model.complete({ messages });
    const error = await rejection(model.complete({ messages }));
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([
      'Bearer first-token-27182',
      'Bearer second-token-81828',
    ]);
    expect(server.headers[0]).not.toHaveProperty('api-key');
    expect(error.message).toMatch(/answered 401: expired: …$/);
  });

  it('says so when no token comes', async () => {
    const token = () => Promise.reject(new Error('not signed in'));
    const call = azureChat({ model: 'm', resource: 'contoso', token }).complete({ messages });
    await expect(call).rejects.toMatchObject({
      message: 'no token for m on Azure: not signed in',
      isRetryable: false,
      isFatal: true,
    });
  });

  it('does not guess which of a key and a token is meant', () => {
    const options = { model: 'm', resource: 'contoso', apiKey, token: async () => 't' };
    expect(() => azureChat(options)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});

describe('qwenChat', () => {
  it.each([
    [undefined, undefined],
    ['server_default', undefined],
    ['enabled', { enable_thinking: true }],
    ['disabled', { enable_thinking: false }],
  ] as const)('with thinkingMode %s sends %j', async (thinkingMode, sent) => {
    await using server = await startFakeLLM(['hi']);
    const model = qwenChat({ model: 'm', baseURL: server.baseURL, thinkingMode });
    await model.complete({ messages });
    expect(server.requests[0]?.chat_template_kwargs).toEqual(sent);
    expect(server.requests[0]?.temperature).toBe(0.7);
    expect(model.id.includes('enable_thinking')).toBe(sent !== undefined);
  });

  it('asks this machine unless told', () => {
    expect(qwenChat({ model: 'Qwen/Qwen3.5-4B' }).id).toBe('qwen:Qwen/Qwen3.5-4B@localhost:8000/v1?temperature=0.7');
  });
});

describe('minimaxChat', () => {
  it.each([
    [undefined, 'minimax:m@api.minimax.io/v1'],
    ['global', 'minimax:m@api.minimax.io/v1'],
    ['cn', 'minimax:m@api.minimaxi.com/v1'],
  ] as const)('in region %s is %s', (region, id) => {
    expect(minimaxChat({ model: 'm', apiKey, region }).id.split('?')[0]).toBe(id);
  });

  it('asks for thoughts apart from the text', async () => {
    await using server = await startFakeLLM(['hi']);
    const model = minimaxChat({ model: 'm', baseURL: server.baseURL, apiKey, thinking: 'disabled' });
    await model.complete({ messages, maxOutputTokens: 9 });
    expect(server.requests[0]).toMatchObject({
      reasoning_split: true,
      thinking: { type: 'disabled' },
      temperature: 0.7,
      max_completion_tokens: 9,
    });
  });

  it.each(['MiniMax-M2', 'MiniMax-M2.5', 'M2-highspeed'])('lets %s think, which knows nothing else', async (model) => {
    await using server = await startFakeLLM(['hi']);
    await minimaxChat({ model, baseURL: server.baseURL, apiKey, thinking: 'disabled' }).complete({ messages });
    expect(server.requests[0]).toMatchObject({ thinking: { type: 'adaptive' } });
  });
});
