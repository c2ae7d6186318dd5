import { describe, expect, it } from 'vitest';
import { ModelCallError } from '../../../../src/core/contracts/index.ts';
import { openaiCompatible } from '../../../../src/models/index.ts';
import { type Retry, type RetryOptions, scripted, withRetry } from '../../../../src/public/models.ts';
import { startFakeLLM } from '../../../../src/testing/index.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };
const overloaded = new ModelCallError('overloaded', { status: 503 });
const never = () => new Promise(() => {});

/** A model that throws the given errors one after the other and then says "hi"; waits are noted and not waited for. */
function failing(errors: Error[], options: RetryOptions = {}) {
  const delays: number[] = [];
  const remaining = [...errors];
  const inner = scripted('failing', () => {
    const error = remaining.shift();
    if (error) throw error;
    return 'hi';
  });
  const delay = async (ms: number) => void delays.push(ms);
  return { model: withRetry(inner, { random: () => 1, delay, ...options }), delays, requests: inner.requests };
}

it('doubles its waits up to the longest', async () => {
  const errors = Array.from({ length: 6 }, () => overloaded);
  const { model, delays } = failing(errors, { maxRetries: 6, firstDelayMs: 500, maxDelayMs: 6_000 });
  expect((await model.complete(request)).text).toBe('hi');
  expect(delays).toEqual([500, 1_000, 2_000, 4_000, 6_000, 6_000]);
});

it('draws each wait from the whole range between nothing and its turn', async () => {
  const draws = [0, 0.5, 0.25];
  const { model, delays } = failing([overloaded, overloaded, overloaded], { random: () => draws.shift() ?? 1 });
  await model.complete(request);
  expect(delays).toEqual([0, 500, 500]);
});

it('waits as long as the provider asks, within reason', async () => {
  const asks = (retryAfterMs: number) => new ModelCallError('slow down', { status: 429, retryAfterMs });
  const { model, delays } = failing([asks(7_000), asks(3_600_000)]);
  await model.complete(request);
  expect(delays).toEqual([7_000, 120_000]);
});

it('hears Retry-After over HTTP', async () => {
  await using server = await startFakeLLM([{ status: 429, headers: { 'retry-after': '7' } }, 'hi']);
  const delays: number[] = [];
  const delay = async (ms: number) => void delays.push(ms);
  const model = withRetry(openaiCompatible({ model: 'm', baseURL: server.baseURL }), { delay });
  expect((await model.complete(request)).text).toBe('hi');
  expect(delays).toEqual([7_000]);
});

it('throws the last error after the last try, without another wait', async () => {
  const last = new ModelCallError('still overloaded', { status: 503 });
  const { model, delays, requests } = failing([overloaded, overloaded, last], { maxRetries: 2 });
  await expect(model.complete(request)).rejects.toBe(last);
  expect(requests).toHaveLength(3);
  expect(delays).toHaveLength(2);
});

it.each([new ModelCallError('no such model', { status: 404 }), new TypeError('a bug')])(
  'throws %s at once',
  async (error) => {
    const { model, requests } = failing([error]);
    await expect(model.complete(request)).rejects.toBe(error);
    expect(requests).toHaveLength(1);
  },
);

it('tells of each further try before it waits', async () => {
  const retries: Retry[] = [];
  const { model } = failing([overloaded, overloaded], { onRetry: (retry) => retries.push(retry) });
  await model.complete(request);
  expect(retries).toEqual([
    { request, error: overloaded, attempt: 1, delayMs: 500 },
    { request, error: overloaded, attempt: 2, delayMs: 1_000 },
  ]);
});

describe('a stop', () => {
  const reason = new Error('Ctrl-C');

  it.each(['signal', 'request.signal'])('by %s ends the wait at once with its reason', async (which) => {
    const controller = new AbortController();
    const { signal } = controller;
    const onRetry = () => setImmediate(() => controller.abort(reason));
    const { model, requests } = failing([overloaded], {
      delay: never,
      onRetry,
      ...(which === 'signal' ? { signal } : {}),
    });
    const call = model.complete(which === 'signal' ? request : { ...request, signal });
    await expect(call).rejects.toBe(reason);
    expect(requests).toHaveLength(1);
  });

  it('ends the real wait too', async () => {
    const controller = new AbortController();
    const inner = scripted('down', () => {
      throw new ModelCallError('down', { status: 503, retryAfterMs: 100_000 });
    });
    const model = withRetry(inner, {
      signal: controller.signal,
      onRetry: () => setImmediate(() => controller.abort(reason)),
    });
    await expect(model.complete(request)).rejects.toBe(reason);
  });

  it('that came during the call leaves no further try', async () => {
    const { model, requests, delays } = failing([overloaded], { signal: AbortSignal.abort(reason) });
    await expect(model.complete(request)).rejects.toBe(reason);
    expect([requests.length, delays.length]).toEqual([1, 0]);
  });

  it('lets a call in flight finish', async () => {
    const { model } = failing([], { signal: AbortSignal.abort(reason) });
    expect((await model.complete(request)).text).toBe('hi');
  });
});
