import { createRateLimiter, type GatewayEnd, type ModelGateway, startModelGateway } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it, vi } from 'vitest';
import {
  anthropic,
  ask,
  chat,
  data,
  dialects,
  eventStream,
  gemini,
  responses,
  startProvider,
} from './gateway-calls.ts';

const key = 'the-key-of-this-account';
const auth = { header: 'Authorization', value: `Bearer ${key}` };
const listen = { port: 0 };
const retry = { firstDelayMs: 1 };

/** All that a gateway tells. */
const told = (gateway: ModelGateway) => {
  const error = gateway.failure();
  return [
    JSON.stringify({ ...gateway, ...error }),
    error?.message,
    error?.hint,
    error?.stack,
    String(error?.cause),
  ].join();
};

describe.each(dialects)('a failing provider behind the gateway: $name', (dialect) => {
  it('is asked again while that can help', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen, retry });
    llm.failWith(429, { times: 1, headers: { 'retry-after-ms': '5' } });
    expect((await ask(gateway.url, dialect, { stream: true })).status).toBe(200);
    llm.failWith(503, { times: 2 });
    expect((await ask(gateway.url, dialect)).status).toBe(200);
    expect(llm.requests).toHaveLength(5);
    expect([gateway.calls(), gateway.sent(), gateway.failure()]).toEqual([2, 5, undefined]);
    expect(gateway.usage()).toEqual(llm.usage());
  });

  it.each([429, 500, 529])(
    '%i without end is a failure, told to the caller so that it does not ask again',
    async (status) => {
      await using llm = await startFakeAgentLLM({ script: [] });
      const ends: [GatewayEnd, boolean][] = [];
      await using gateway = await startModelGateway({
        upstream: { baseURL: llm.url, auth },
        listen,
        retry: { ...retry, maxRetries: 1 },
        limiter: createRateLimiter({ firstPauseMs: 20, patienceMs: 30 }),
        onEnd: (reason) => ends.push([reason, gateway.failure() !== undefined]),
      });
      llm.failWith(status);
      expect((await ask(gateway.url, dialect, { stream: true })).status).toBe(400);
      const isFatal = status === 429; // no attempt of any agent would be answered
      expect(gateway.failure()).toMatchObject({ name: 'ModelCallError', status, isRetryable: false, isFatal });
      const asked = llm.requests.length;
      expect([asked, gateway.sent()]).toEqual([2, 2]);
      expect((await ask(gateway.url, dialect)).status).toBe(400);
      expect(llm.requests).toHaveLength(asked);
      expect(ends).toEqual([['failure', true]]);
      expect(gateway.ended()).toBeUndefined();
    },
  );

  it.each([401, 403, 404])('%i is one at once', async (status) => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    llm.failWith(status);
    expect((await ask(gateway.url, dialect)).status).toBe(status);
    expect(llm.requests).toHaveLength(1);
    expect(gateway.failure()).toMatchObject({ status, isRetryable: false, isFatal: true });
  });

  it('400 is a matter of the caller’s', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    llm.failWith(400);
    const reply = await ask(gateway.url, dialect, { stream: true });
    expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('fake failure 400')]);
    expect(gateway.failure()).toBeUndefined();
  });

  it('one that has not answered keeps its caller waiting, until it does', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    expect(gateway.silence()).toBeUndefined();
    llm.hang(60_000);
    const leaving = new AbortController();
    const left = ask(gateway.url, dialect, { signal: leaving.signal }).catch(() => {});
    await expect.poll(() => llm.requests.length).toBe(1);
    expect(gateway.silence()?.message).toContain('has not answered at all');
    leaving.abort();
    await left;
    llm.hang(0);
    await ask(gateway.url, dialect, {});
    expect(gateway.silence()).toBeUndefined();
  });
});

// Undici counts idle time in seconds, so these wait together.
describe.concurrent('a provider behind the gateway that hangs', () => {
  it.each(dialects)('keeps its caller waiting, though it answered before: $name', async (dialect) => {
    await using llm = await startFakeAgentLLM({ script: [] });
    const upstream = { baseURL: llm.url, auth };
    await using gateway = await startModelGateway({ upstream, listen, callTimeoutMs: 500 });
    await ask(gateway.url, dialect, {});
    llm.hang(60_000);
    const leaving = new AbortController();
    const left = ask(gateway.url, dialect, { signal: leaving.signal }).catch(() => {});
    await vi.waitFor(() => expect(gateway.silence()?.message).toContain('sent nothing for 0.5 s'), { timeout: 10_000 });
    leaving.abort();
    await left;
  });

  it.each(dialects.flatMap((dialect) => [true, false].map((stream) => ({ ...dialect, dialect, stream }))))(
    'is a failure: $name (streamed: $stream)',
    async ({ dialect, stream }) => {
      await using llm = await startFakeAgentLLM({ script: [] });
      llm.hang(60_000);
      const upstream = { baseURL: llm.url, auth };
      await using gateway = await startModelGateway({ upstream, listen, retry: { maxRetries: 0 }, callTimeoutMs: 100 });
      expect((await ask(gateway.url, dialect, { stream })).status).toBe(400);
      expect(gateway.failure()).toMatchObject({
        message: expect.stringContaining('sent nothing for 0.1 s'),
        isRetryable: false,
      });
    },
  );
});

it.each([
  ['hangs in the middle of it', () => {}],
  ['ends it without its last event', (response: { end(): void }) => response.end()],
])('an answer of a provider that %s never looks finished', async (_, then) => {
  await using provider = await startProvider((_, response) => {
    response.writeHead(200, eventStream);
    response.write(data({ choices: [{ delta: { content: 'half of' } }] }));
    then(response);
  });
  await using gateway = await startModelGateway({
    upstream: { baseURL: provider.url, auth },
    listen,
    callTimeoutMs: 100,
  });
  const reply = await ask(gateway.url, chat, { stream: true });
  await expect(reply.text()).rejects.toThrow();
  expect(gateway.failure()).toMatchObject({ isRetryable: true, isFatal: false });
});

it.each([
  [anthropic, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 529],
  [chat, { error: { code: 502, message: 'Provider returned error' } }, 502],
  [responses, { type: 'response.failed', response: { error: { code: 'rate_limit_exceeded', message: 'slow' } } }, 429],
  [gemini, { error: { code: 503, status: 'UNAVAILABLE', message: 'busy' } }, 503],
] as const)('an outage in the middle of an answer counts: %#', async (dialect, event, status) => {
  await using provider = await startProvider((_, response) => {
    response.writeHead(200, eventStream);
    response.end(data(event));
  });
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, listen });
  const reply = await ask(gateway.url, dialect, { stream: true });
  await expect(reply.text()).rejects.toThrow();
  expect(gateway.failure()).toMatchObject({ status, isRetryable: true });
});

it('a page in place of an answer, and nobody at the address, are failures', async () => {
  await using provider = await startProvider((_, response) => response.end('<html><title>Maintenance</title></html>'));
  const started = { listen, retry: { firstDelayMs: 1, maxRetries: 1 } };
  await using page = await startModelGateway({ upstream: { baseURL: provider.url, auth }, ...started });
  await using nobody = await startModelGateway({ upstream: { baseURL: 'http://127.0.0.1:9', auth }, ...started });
  expect((await ask(page.url, chat)).status).toBe(400);
  expect((await ask(nobody.url, chat)).status).toBe(400);
  expect(page.failure()?.message).toContain('Maintenance');
  expect(nobody.failure()?.message).toContain('could not be reached');
});

it('an abort ends waits and calls, and is no failure', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  const run = new AbortController();
  const upstream = { baseURL: llm.url, auth };
  await using gateway = await startModelGateway({ upstream, listen, signal: run.signal });
  llm.failWith(429, { headers: { 'retry-after': '15' } });
  const waiting = ask(gateway.url, chat);
  while (llm.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  run.abort();
  await expect(waiting).rejects.toThrow();
  expect(gateway.failure()).toBeUndefined();
});

it.each([200, 400, 401, 500])('never tells the key, though the provider of a %i does', async (status) => {
  await using provider = await startProvider((request, response) => {
    const echo = JSON.stringify({
      error: status === 200 ? null : { message: `${key} is wrong` },
      headers: request.headers,
    });
    response.writeHead(status, { 'content-type': 'application/json', 'x-echo': key });
    response.write(echo.slice(0, echo.indexOf(key) + 7));
    setTimeout(() => response.end(echo.slice(echo.indexOf(key) + 7)), 20);
  });
  const started = { listen, retry: { firstDelayMs: 1, maxRetries: 1 } };
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, ...started });
  const replies = [await ask(gateway.url, chat), await fetch(`${gateway.url}/v1/models`)];
  const heads = replies.map(({ headers }) => JSON.stringify([...headers]));
  const texts = await Promise.all(replies.map((reply) => reply.text()));
  expect([...heads, ...texts, told(gateway)].join()).not.toContain(key);
});

it('never tells the key in a stream either, though it be torn', async () => {
  await using provider = await startProvider(async (_, response) => {
    response.writeHead(200, eventStream);
    const text = data({ choices: [{ delta: { content: `the key is ${key}!` }, finish_reason: 'stop' }] });
    for (const letter of text)
      await new Promise<void>((resolve) => response.write(letter, () => setImmediate(resolve)));
    response.end();
  });
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, listen });
  expect(await (await ask(gateway.url, chat, { stream: true })).text()).toContain('the key is [secret]!');
});
