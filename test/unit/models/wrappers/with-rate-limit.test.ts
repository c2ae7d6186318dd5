import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { ModelCallError } from '../../../../src/core/contracts/index.ts';
import {
  createRateLimiter,
  openaiCompatible,
  type RateLimitChange,
  scripted,
  withRateLimit,
} from '../../../../src/public/models.ts';
import { startFakeLLM } from '../../../../src/testing/index.ts';
import { expectEvery } from '../../../support/expect-every.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };
const tooMany = new ModelCallError('too many', { status: 429 });
const noDelay = async () => {};
const instant = { firstPauseMs: 0, delay: noDelay };

/** A clock on which every wait has passed as soon as all that was ready to run has run. */
function fastClock() {
  let time = 0;
  return {
    now: () => time,
    async delay(ms: number) {
      await new Promise((resolve) => setImmediate(resolve));
      time += ms;
    },
  };
}

/** A model that throws the given errors one after the other, and then says "hi". */
function failing(...errors: Error[]) {
  return scripted('failing', () => {
    const error = errors.shift();
    if (error) throw error;
    return 'hi';
  });
}

it('has no more calls in flight than the limiter allows', async () => {
  let inFlight = 0;
  let most = 0;
  const model = scripted('slow', async () => {
    most = Math.max(most, ++inFlight);
    await new Promise((resolve) => setImmediate(resolve));
    inFlight--;
    return 'hi';
  });
  const limited = withRateLimit(model, createRateLimiter({ initial: 3, max: 3 }));
  const replies = await Promise.all(Array.from({ length: 20 }, () => limited.complete(request)));
  expect(replies.map(({ text }) => text)).toEqual(Array(20).fill('hi'));
  expect(most).toBe(3);
});

it('sends calls in the order in which they came', async () => {
  const model = scripted('model', ({ messages }) => messages[0]!.content);
  const limited = withRateLimit(model, createRateLimiter({ initial: 1, max: 1 }));
  const names = Array.from({ length: 10 }, (_, i) => `call ${i}`);
  await Promise.all(names.map((content) => limited.complete({ messages: [{ role: 'user', content }] })));
  expect(model.requests.map(({ messages }) => messages[0]!.content)).toEqual(names);
});

it('shares the limit with every model that is given the same limiter', async () => {
  const limiter = createRateLimiter({ initial: 1, max: 1 });
  const stuck = withRateLimit(
    scripted('target', () => new Promise<string>(() => {})),
    limiter,
  );
  const optimizer = scripted('optimizer', () => 'hi');
  void stuck.complete(request);
  void withRateLimit(optimizer, limiter).complete(request);
  await new Promise((resolve) => setImmediate(resolve));
  expect(optimizer.requests).toHaveLength(0);
});

it('answers every call of a server that refuses what is too many', async () => {
  await using server = await startLimitedServer(4);
  const changes: RateLimitChange[] = [];
  const limiter = createRateLimiter({ onChange: (change) => changes.push(change) });
  const endpoint = openaiCompatible({ model: 'm', baseURL: server.baseURL });
  const limited = withRateLimit(endpoint, limiter);
  const replies = await Promise.all(Array.from({ length: 60 }, () => limited.complete(request)));
  expect(replies.map(({ text }) => text)).toEqual(Array(60).fill('hi'));
  expect(changes).toContainEqual(expect.objectContaining({ type: 'limit', reason: 'cut' }));
});

describe('a refused call', () => {
  it('joins the line again, and tells', async () => {
    const told: unknown[] = [];
    const limited = withRateLimit(failing(tooMany, tooMany), createRateLimiter(instant), {
      onRequeue: (requeue) => told.push(requeue),
    });
    expect((await limited.complete(request)).text).toBe('hi');
    expect(told).toEqual([
      { request, error: tooMany },
      { request, error: tooMany },
    ]);
  });

  it('goes before those who wait for their first try', async () => {
    let isRefused = false;
    const model = scripted('model', ({ messages }) => {
      if (isRefused) return messages[0]!.content;
      isRefused = true;
      throw tooMany;
    });
    const limited = withRateLimit(model, createRateLimiter({ initial: 1, max: 1, ...fastClock() }));
    const names = ['a', 'b', 'c'];
    await Promise.all(names.map((content) => limited.complete({ messages: [{ role: 'user', content }] })));
    expect(model.requests.map(({ messages }) => messages[0]!.content)).toEqual(['a', 'a', 'b', 'c']);
  });

  it('is an outage once every call was refused for too long, for all that wait', async () => {
    const model = scripted('busy', () => {
      throw tooMany;
    });
    const limited = withRateLimit(model, createRateLimiter({ initial: 4, patienceMs: 30_000, ...fastClock() }));
    const calls = Array.from({ length: 4 }, () => limited.complete(request));
    const outcomes = await Promise.allSettled(calls);
    expectEvery(
      outcomes,
      (outcome) => outcome.status === 'rejected' && outcome.reason.isFatal && outcome.reason.status === 429,
    );
    expect(model.requests.length).toBeLessThanOrEqual(12); // one each, and then one at a time, ever more slowly
  });

  it('is an outage at once if the provider asks for a longer wait than the patience', async () => {
    const model = failing(new ModelCallError('busy', { status: 429, retryAfterMs: 60_000 }));
    const limited = withRateLimit(model, createRateLimiter({ patienceMs: 30_000, ...fastClock() }));
    await expect(limited.complete(request)).rejects.toThrow(
      'busy (every call was refused for 0 s, and asks to wait for 60 s more)',
    );
    expect(model.requests).toHaveLength(1);
  });

  it('is no outage while other calls are answered', async () => {
    let sent = 0;
    const model = scripted('picky', () => {
      if (++sent % 3 > 0) throw tooMany;
      return 'hi';
    });
    const limited = withRateLimit(model, createRateLimiter({ initial: 1, patienceMs: 1_000, ...fastClock() }));
    const replies = await Promise.all(Array.from({ length: 8 }, () => limited.complete(request)));
    expect(replies).toHaveLength(8);
  });

  it('that says how long pauses the whole key', async () => {
    await using server = await startFakeLLM([{ status: 429, headers: { 'retry-after': '7' } }, 'hi']);
    const changes: RateLimitChange[] = [];
    const clock = fastClock();
    const limiter = createRateLimiter({
      ...clock,
      onChange: (change) => changes.push(change),
    });
    const limited = withRateLimit(openaiCompatible({ model: 'm', baseURL: server.baseURL }), limiter);
    expect((await limited.complete(request)).text).toBe('hi');
    expect(changes).toContainEqual({ type: 'pause', reason: 'asked', pauseMs: 7_000 });
    expect(clock.now()).toBe(7_000);
  });
});

it.each([
  new ModelCallError('down', { status: 503 }),
  new ModelCallError('no credit', { status: 429, isRetryable: false }),
  new TypeError('a bug'),
])('throws %s at once, gives the slot back, and leaves the limit alone', async (error) => {
  const limiter = createRateLimiter();
  const model = failing(error);
  await expect(withRateLimit(model, limiter).complete(request)).rejects.toBe(error);
  expect(model.requests).toHaveLength(1);
  expect(limiter.state()).toEqual({ calls: 8, inFlight: 0, waiting: 0 });
});

it.each(['signal', 'request.signal'])('ends the wait at once when %s aborts', async (which) => {
  const limiter = createRateLimiter();
  limiter.pause(100_000);
  const controller = new AbortController();
  const { signal } = controller;
  const model = scripted('model', () => 'hi');
  const limited = withRateLimit(model, limiter, which === 'signal' ? { signal } : {});
  const call = limited.complete(which === 'signal' ? request : { ...request, signal });
  const reason = new Error('Ctrl-C');
  setImmediate(() => controller.abort(reason));
  await expect(call).rejects.toBe(reason);
  expect(model.requests).toHaveLength(0);
  expect(limiter.state().waiting).toBe(0);
});

it('tells how long a call stood in line, and nothing if it did not', async () => {
  const clock = fastClock();
  const limiter = createRateLimiter(clock);
  const waits: number[] = [];
  const options = { now: clock.now, onWait: ({ waitMs }: { waitMs: number }) => waits.push(waitMs) };
  const limited = withRateLimit(
    scripted('model', () => 'hi'),
    limiter,
    options,
  );
  await limited.complete(request);
  limiter.pause(400);
  await limited.complete(request);
  expect(waits).toEqual([400]);
});

it('pauses when the provider says that nothing remains, in a reply or in an error', async () => {
  const changes: RateLimitChange[] = [];
  const limiter = createRateLimiter({ onChange: (change) => changes.push(change) });
  const remaining = [
    { calls: 3, resetMs: 1 },
    { calls: 0, resetMs: 5 },
    { calls: 0, resetMs: 60_000 },
  ];
  const down = new ModelCallError('down', { status: 500 });
  const model = scripted('model', () => {
    if (remaining.length === 1) throw down;
    return 'hi';
  });
  const limited = withRateLimit(model, limiter, { remainingCalls: () => remaining.shift() });
  await limited.complete(request);
  expect(changes).toEqual([]);
  await limited.complete(request);
  await expect(limited.complete(request)).rejects.toBe(down);
  expect(changes).toEqual([
    { type: 'pause', reason: 'asked', pauseMs: 5 },
    { type: 'pause', reason: 'asked', pauseMs: 60_000 },
  ]);
});

/** Takes `mostAtOnce` calls and refuses what comes meanwhile. */
async function startLimitedServer(mostAtOnce: number) {
  let inFlight = 0;
  const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }];
  const body = JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices });
  const server = createServer((incoming, response) => {
    response.setHeader('content-type', 'application/json');
    incoming.resume().on('end', () => {
      if (inFlight >= mostAtOnce) return response.writeHead(429).end('{}');
      inFlight++;
      return setTimeout(() => {
        inFlight--;
        response.end(body);
      }, 5);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
