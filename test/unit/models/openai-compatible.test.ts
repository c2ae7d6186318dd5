import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ModelCallError } from '../../../src/core/contracts/index.ts';
import { retryAfterMs } from '../../../src/models/ai-sdk/rate-limit-headers.ts';
import { type OpenAICompatibleOptions, openaiCompatible } from '../../../src/public/models.ts';
import { type FakeAnswer, startFakeLLM } from '../../../src/testing/index.ts';

const apiKey = 'live-3141592653589793';
const prompt = 'the whole secret prompt';
const request = { messages: [{ role: 'user' as const, content: prompt }] };

/** What a call against a server that gives `answer` is rejected with. */
async function failureOf(answer: FakeAnswer, options: Partial<OpenAICompatibleOptions> = {}): Promise<ModelCallError> {
  await using server = await startFakeLLM([answer]);
  const model = openaiCompatible({ model: 'm', baseURL: server.baseURL, apiKey, ...options });
  return await rejection(model.complete(request));
}

function rejection(call: Promise<unknown>): Promise<ModelCallError> {
  return call.then(
    () => expect.unreachable('the call should have failed'),
    (error) => error,
  );
}

describe('a request', () => {
  it('carries messages, the key and nothing that was not asked for', async () => {
    await using server = await startFakeLLM(['hi']);
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'hi' },
      { role: 'user', content: 'again' },
    ] as const;
    const model = openaiCompatible({
      model: 'm',
      baseURL: `${server.baseURL}/`,
      apiKey,
      headers: { 'x-team': 'blue' },
    });
    await model.complete({ messages, stage: 'rollout', sampleIndex: 3 });
    expect(server.requests).toEqual([{ model: 'm', messages }]);
    expect(server.headers[0]).toMatchObject({ authorization: `Bearer ${apiKey}`, 'x-team': 'blue' });
  });

  it('carries the limits and the temperature that it names, else those of the model', async () => {
    await using server = await startFakeLLM(['hi', 'hi']);
    const model = openaiCompatible({ model: 'm', baseURL: server.baseURL, temperature: 0.2, sendSeed: true });
    await model.complete(request);
    await model.complete({ ...request, temperature: 0, maxOutputTokens: 9, sampleIndex: 3 });
    expect(server.requests).toMatchObject([
      { temperature: 0.2, seed: 0 },
      { temperature: 0, seed: 3, max_tokens: 9 },
    ]);
  });

  it('names its limit as the endpoint wants it', async () => {
    await using server = await startFakeLLM(['hi']);
    const maxTokensParameter = 'max_completion_tokens';
    await openaiCompatible({ model: 'm', baseURL: server.baseURL, maxTokensParameter }).complete({
      ...request,
      maxOutputTokens: 9,
    });
    expect(server.requests[0]).toHaveProperty('max_completion_tokens', 9);
    expect(server.requests[0]).not.toHaveProperty('max_tokens');
  });

  it('carries credentials and query of the base URL where they belong', async () => {
    await using server = await startFakeLLM(['hi']);
    const baseURL = `${server.baseURL.replace('://', '://ada:p%40ss@')}?version=7`;
    expect((await openaiCompatible({ model: 'm', baseURL }).complete(request)).text).toBe('hi');
    expect(server.headers[0]?.authorization).toBe(`Basic ${Buffer.from('ada:p@ss').toString('base64')}`);
  });
});

describe('a reply', () => {
  it('has the tokens as the provider counted them', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 80 },
      completion_tokens_details: { reasoning_tokens: 20 },
    };
    await using server = await startFakeLLM([{ content: 'hi', usage }]);
    const reply = await openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request);
    expect(reply).toEqual({
      text: 'hi',
      usage: { input: 100, cached: 80, output: 30, reasoning: 20 },
      finishReason: 'stop',
    });
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['content_filter', 'content-filter'],
    ['tool_calls', 'other'],
    ['eos', 'other'],
  ])('that ended by %s says %s', async (finishReason, expected) => {
    await using server = await startFakeLLM([{ content: 'hi', finishReason }]);
    const reply = await openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request);
    expect(reply.finishReason).toBe(expected);
  });

  it('does without tokens and without a reason', async () => {
    await using server = await startFakeLLM([{ body: '{"choices":[{"message":{"content":"hi"}}]}' }]);
    const reply = await openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request);
    expect(reply).toEqual({
      text: 'hi',
      usage: { input: 0, cached: 0, output: 0, reasoning: 0 },
      finishReason: 'other',
    });
  });
});

describe('an id', () => {
  it.each<[OpenAICompatibleOptions, string]>([
    [{ model: 'm', baseURL: 'https://api.example.com/v1/', apiKey }, 'compatible:m@api.example.com/v1'],
    [{ model: 'm', baseURL: 'http://ada:pass@localhost:8000?key=k' }, 'compatible:m@localhost:8000'],
    [
      { model: 'org/m', baseURL: 'http://h/v1', temperature: 0, sendSeed: true },
      'compatible:org/m@h/v1?temperature=0&seed=sampleIndex',
    ],
  ])('names model, endpoint and settings, never a secret', (options, id) => {
    expect(openaiCompatible(options).id).toBe(id);
  });
});

it.each(['localhost:8000/v1', 'ada:pass@host', '/v1', ''])('does not take %j for a base URL', (baseURL) => {
  const make = () => openaiCompatible({ model: 'm', baseURL });
  expect(make).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', hint: expect.any(String) }));
  expect(make).not.toThrow('pass');
});

describe('a refusal', () => {
  it.each([400, 401, 403, 404, 422])('by status %i is not worth another try', async (status) => {
    const error = await failureOf({ status, content: 'no' });
    expect(error).toMatchObject({ name: 'ModelCallError', code: 'MODEL_CALL_FAILED', status, isRetryable: false });
    expect(error.message).toMatch(new RegExp(`^m at 127.0.0.1:\\d+/v1 answered ${status}: no$`));
  });

  it.each([408, 409, 425, 429, 500, 502, 503, 504, 529])('by status %i is worth another try', async (status) => {
    expect(await failureOf({ status, content: 'no' })).toMatchObject({ status, isRetryable: true });
  });

  it.each([
    [401, 'API key'],
    [403, 'API key'],
    [404, 'base URL'],
  ])('by status %i says what to check', async (status, words) => {
    expect((await failureOf({ status, content: 'no' })).hint).toContain(words);
  });

  it('of the name of the token limit says which option to set', async () => {
    const error = await failureOf({ status: 400, content: "Use 'max_completion_tokens' instead." });
    expect(error.hint).toContain('maxTokensParameter');
  });

  it('by redirection does not carry the key away', async () => {
    await using elsewhere = await startFakeLLM(['hi']);
    const error = await failureOf({ status: 308, headers: { location: `${elsewhere.baseURL}/chat/completions` } });
    expect(error).toMatchObject({ status: 308, isRetryable: false });
    expect(error.hint).toContain(`sends calls to ${elsewhere.baseURL}/chat/completions. Use that as base URL, without`);
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    ['{"error":{"message":"too long"}}', 'too long'],
    ['{"error":"too long"}', 'too long'],
    ['{"message":"too long"}', 'too long'],
    ['{"detail":[{"msg":"too long","input":"the whole secret prompt"}]}', 'too long'],
    ['<html><head><title>502 Bad Gateway</title></head></html>', 'an HTML page "502 Bad Gateway"'],
    ['<html><body><h1>502 Bad Gateway</h1></body></html>', 'an HTML page "502 Bad Gateway"'],
    ['upstream\n  is gone', 'upstream is gone'],
    ['', 'Bad Gateway'],
  ])('in the words %j is quoted in a line', async (body, words) => {
    expect((await failureOf({ status: 502, body })).message).toMatch(new RegExp(`answered 502: ${words}$`));
  });

  it('at length is cut', async () => {
    const error = await failureOf({ status: 400, content: 'x'.repeat(5_000) });
    expect(error.message.length).toBeLessThan(350);
  });
});

describe('a secret', () => {
  const basic = Buffer.from('ada:hunter22').toString('base64');

  it.each([
    [`Incorrect API key: ${apiKey}.`, {}],
    [`You sent Authorization: Bearer ${apiKey}`, {}],
    ['Incorrect API key: sk-proj-1234********wxyz', {}],
    ['Bad token in "Bearer abcdefgh.ijkl"', {}],
    ['Bad header value 3141-secret', { headers: { 'x-api-key': '3141-secret' } }],
  ])('in %j does not come into the error', async (content, options) => {
    const error = await failureOf({ status: 401, content }, options);
    const shown = `${error.message} ${error.hint} ${JSON.stringify(error)} ${error.stack} ${String(error.cause)}`;
    expect(shown).not.toMatch(/31415|1234|wxyz|abcdefgh|3141-secret/);
    expect(error.message).toContain('…');
  });

  it('in the base URL does not come into the error', async () => {
    await using server = await startFakeLLM([{ status: 401, content: `not hunter22, not ${basic}` }]);
    const baseURL = server.baseURL.replace('://', '://ada:hunter22@');
    const error = await rejection(openaiCompatible({ model: 'm', baseURL }).complete(request));
    expect(`${error.message} ${error.hint}`).not.toMatch(new RegExp(`hunter22|${basic}`));
  });

  it('that no header can carry does not come into the error either', async () => {
    const error = await failureOf({ content: 'hi' }, { apiKey: `${apiKey}\nsecond line` });
    expect(error).toMatchObject({ name: 'ModelCallError', isRetryable: false });
    expect(error.message).not.toMatch(/31415|second/);
  });
});

describe('a broken answer is worth another try', () => {
  it.each<[string, FakeAnswer]>([
    ['an HTML page', { body: '<!doctype html><title>Restarting</title>' }],
    ['half of the JSON', { body: '{"choices":[{"mess' }],
    ['an empty body', { body: '' }],
    ['an error with a status of success', { body: '{"error":{"message":"overloaded"}}' }],
    ['no choices', { body: '{"choices":[]}' }],
    ['a torn body', { content: 'hi', tornAt: 20 }],
    ['no text', { content: '' }],
    ['only white space', { content: ' \n' }],
    ['a reset', { destroy: true }],
  ])('%s', async (_what, answer) => {
    const error = await failureOf(answer);
    expect(error).toMatchObject({ name: 'ModelCallError', isRetryable: true });
    expect(JSON.stringify({ ...error, message: error.message, cause: error.cause })).not.toContain(prompt);
  });

  it('and quotes what came', async () => {
    expect((await failureOf({ body: '<title>Restarting</title>' })).message).toContain('an HTML page "Restarting"');
    expect((await failureOf({ body: '{"error":{"message":"overloaded"}}' })).message).toContain('overloaded');
  });

  it('but not when the token limit left no room for text', async () => {
    const error = await failureOf({ content: '', finishReason: 'length' });
    expect(error).toMatchObject({ isRetryable: false, message: expect.stringContaining('token limit') });
  });

  it('but not when a filter withheld it', async () => {
    const error = await failureOf({ content: '', finishReason: 'content_filter' });
    expect(error).toMatchObject({ isRetryable: false, message: expect.stringContaining('content filter') });
  });
});

it('asks whether the server runs when nobody listens', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  const baseURL = `http://127.0.0.1:${port}/v1`;
  const error = await rejection(openaiCompatible({ model: 'm', baseURL }).complete(request));
  expect(error).toMatchObject({ isRetryable: true, hint: `Is the server running at ${baseURL}?` });
  expect(error.message).toContain('ECONNREFUSED');
});

it('closes the connection of a call that is aborted', async () => {
  const controller = new AbortController();
  const server = createServer(() => controller.abort(new Error('enough'))).listen(0, '127.0.0.1');
  const closed = new Promise((resolve) => server.once('connection', (socket) => socket.once('close', resolve)));
  await new Promise((resolve) => server.once('listening', resolve));
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const call = openaiCompatible({ model: 'm', baseURL }).complete({ ...request, signal: controller.signal });
  await expect(call).rejects.toThrow('enough');
  await closed;
  await new Promise((resolve) => server.close(resolve));
});

it('uses a connection again', async () => {
  let connections = 0;
  const server = createServer((_request, response) => response.end('{"choices":[{"message":{"content":"hi"}}]}'));
  server.on('connection', () => connections++).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const model = openaiCompatible({ model: 'm', baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  for (const sampleIndex of [0, 1, 2]) await model.complete({ ...request, sampleIndex });
  expect(connections).toBe(1);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');

  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
    [{ 'retry-after-ms': '250', 'retry-after': '7' }, 250],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, undefined],
    [{ 'retry-after': '0' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('%j is %s ms', (headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected);
  });

  it('comes with the error', async () => {
    const error = await failureOf({ status: 429, headers: { 'retry-after': '3' }, content: 'slow down' });
    expect(error.retryAfterMs).toBe(3_000);
  });
});

describe('a reply that is no chat completion', () => {
  const page = { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Sign in</title>' };

  it('is said to be a web page where it is one, with the address to check', async () => {
    const failure = await failureOf(page);
    expect(failure).toMatchObject({ status: 200, isRetryable: true });
    expect(failure.hint).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\S* answered with a web page, not as an API: check the base URL\.$/,
    );
  });

  it.each([
    ['an empty body', { body: '' }],
    ['spaces', { body: ' \n ' }],
  ])('is said to be empty where it is %s', async (_, answer) => {
    const failure = await failureOf(answer);
    expect(failure.message).toContain('sent an empty reply');
    expect(failure.hint).toMatch(/^The reply was empty: check the base URL/);
  });

  it('is said to be empty where it is a completion without text', async () => {
    const failure = await failureOf({ content: '' });
    expect(failure.message).toContain('sent a reply without text');
    expect(failure.hint).toMatch(/^The reply was empty: check the name of the model/);
  });
});
