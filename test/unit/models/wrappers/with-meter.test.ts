import { expect, it } from 'vitest';
import { ModelCallError } from '../../../../src/core/contracts/index.ts';
import { noStageUsage } from '../../../../src/core/run/index.ts';
import { createMeter, scripted, withMeter, withReplyCache, withRetry } from '../../../../src/public/models.ts';

const ask = (stage: string | undefined, content: string) => ({
  messages: [{ role: 'user' as const, content }],
  ...(stage === undefined ? {} : { stage }),
});

const usage = { input: 10, cached: 4, output: 3, reasoning: 1 };

it('counts replies and tokens by stage', async () => {
  const meter = createMeter();
  const model = withMeter(
    scripted('s', () => ({ text: 'hi', usage })),
    meter,
  );
  await model.complete(ask('rollout', 'a'));
  await model.complete(ask('rollout', 'b'));
  await model.complete(ask(undefined, 'c'));
  expect(meter.take()).toEqual({
    rollout: { ...noStageUsage, input: 20, cached: 8, output: 6, reasoning: 2, replies: 2, unpriced: 2 },
    other: { ...noStageUsage, ...usage, replies: 1, unpriced: 1 },
  });
});

it('starts again at zero once its counts are taken', () => {
  const meter = createMeter();
  meter.add('rollout', { retries: 1 });
  expect(meter.take().rollout?.retries).toBe(1);
  expect(meter.take()).toEqual({});
});

it('does not count a call that failed', async () => {
  const meter = createMeter();
  const broken = scripted('s', () => {
    throw new ModelCallError('no', { status: 400 });
  });
  await expect(withMeter(broken, meter).complete(ask('rollout', 'a'))).rejects.toThrow('no');
  expect(meter.take()).toEqual({});
});

it('counts sent calls, hits and retries so that they add up to the calls that the model saw', async () => {
  const meter = createMeter();
  const entries = new Map<string, string>();
  const cache = {
    get: async (key: string) => entries.get(key),
    set: async (key: string, value: string) => void entries.set(key, value),
  };
  const inner = scripted('s', () => {
    if (inner.requests.length % 3 === 1) throw new ModelCallError('busy', { status: 503 });
    return { text: 'hi', usage };
  });
  const retried = withRetry(inner, {
    delay: async () => {},
    onRetry: ({ request }) => meter.add(request.stage ?? 'other', { retries: 1 }),
  });
  const onHit = (request: { stage?: string }) => meter.add(request.stage ?? 'other', { cacheHits: 1 });
  const model = withMeter(withReplyCache(retried, cache, { onHit }), meter);
  await Promise.all(['a', 'b', 'a', 'c', 'd', 'b'].map((content) => model.complete(ask('rollout', content))));
  await model.complete(ask('rollout', 'd'));
  const { replies = 0, cacheHits = 0, retries = 0 } = meter.take().rollout ?? {};
  expect({ replies, cacheHits }).toEqual({ replies: 7, cacheHits: 3 });
  expect(replies - cacheHits + retries).toBe(inner.requests.length);
});

it('counts dollars where the price is known, cached tokens at their own', async () => {
  const meter = createMeter();
  const price = { input: 2, cachedInput: 0.5, output: 10 };
  const model = withMeter(
    scripted('s', () => ({ text: 'hi', usage })),
    meter,
    { price },
  );
  await model.complete(ask('rollout', 'a'));
  expect(meter.take().rollout).toMatchObject({ unpriced: 0, costUsd: (6 * 2 + 4 * 0.5 + 3 * 10) / 1_000_000 });
});
