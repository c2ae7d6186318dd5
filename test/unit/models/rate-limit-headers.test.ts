import { describe, expect, it } from 'vitest';
import { readRateLimit } from '../../../src/models/ai-sdk/rate-limit-headers.ts';
import { remainingCalls } from '../../../src/models/index.ts';
import { createRateLimiter, openaiChat, openaiCompatible, withRateLimit } from '../../../src/public/models.ts';
import { startFakeLLM } from '../../../src/testing/index.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];
const now = Date.parse('2026-01-01T00:00:00Z');

describe('rate-limit headers', () => {
  it.each([
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1s' }, 1_000],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }, 360_000],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '120ms' }, 120],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1h2m3.5s' }, 3_723_500],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '7.66s' }, 7_660],
    [
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:02Z',
      },
      2_000,
    ],
    [
      {
        'anthropic-ratelimit-input-tokens-remaining': '0',
        'anthropic-ratelimit-input-tokens-reset': '2026-01-01T00:00:03+00:00',
      },
      3_000,
    ],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '5' }, 5_000],
    [
      {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '1s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-tokens': '9s',
      },
      9_000,
    ],
  ])('%j say that nothing is left for %i ms', (headers, resetMs) => {
    expect(readRateLimit(headers, now)).toEqual({ calls: 0, resetMs });
  });

  it.each([
    [{}],
    [{ 'x-ratelimit-remaining-requests': '3', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': '', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': 'none', 'x-ratelimit-reset-requests': '1s' }],
    [{ 'x-ratelimit-remaining-requests': '0' }],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': 'soon' }],
    [
      {
        'anthropic-ratelimit-requests-remaining': '0',
        'anthropic-ratelimit-requests-reset': '2025-12-31T23:59:59Z',
      },
    ],
  ])('%j say nothing to wait for', (headers) => {
    expect(readRateLimit(headers, now)).toBeUndefined();
  });

  it('are known of replies and of errors, and are part of neither', async () => {
    const headers = { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '2s' };
    await using server = await startFakeLLM([{ content: 'hi', headers }, { status: 503, headers }, 'hi']);
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, apiKey: 'key' });
    const reply = await model.complete({ messages });
    const error = await model.complete({ messages }).catch((thrown) => thrown);
    expect([reply, error].map(remainingCalls)).toEqual([
      { calls: 0, resetMs: 2_000 },
      { calls: 0, resetMs: 2_000 },
    ]);
    expect(Object.keys(reply)).toEqual(['text', 'usage', 'finishReason']);
    expect(remainingCalls(await model.complete({ messages }))).toBeUndefined();
  });
});

describe('a key whose calls are used up', () => {
  /** Two calls, then none for 300 ms by the server's own clock. Who comes too early is refused. */
  function windowed() {
    const windowMs = 300;
    let count = 0;
    let closedUntil = 0;
    let refusals = 0;
    const answer = () => {
      if (Date.now() < closedUntil) {
        refusals++;
        return { status: 429, content: 'too early' };
      }
      count++;
      if (count % 2 === 0) closedUntil = Date.now() + windowMs;
      const remaining = String(count % 2 === 0 ? 0 : 1);
      const headers = {
        'x-ratelimit-remaining-requests': remaining,
        'x-ratelimit-reset-requests': `${windowMs}ms`,
      };
      return { content: `answer ${count}`, headers };
    };
    return { answer, refusals: () => refusals };
  }

  it('is not called again before its count starts again', async () => {
    const { answer, refusals } = windowed();
    await using server = await startFakeLLM(answer);
    const limiter = createRateLimiter({ initial: 1, max: 1 });
    const plain = openaiCompatible({ model: 'm', baseURL: server.baseURL });
    const model = withRateLimit(plain, limiter, { remainingCalls });
    const replies = await Promise.all([0, 1, 2, 3].map((sampleIndex) => model.complete({ messages, sampleIndex })));
    expect(replies.map(({ text }) => text)).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4']);
    expect(refusals()).toBe(0);
  });

  it('is heeded by every run', async () => {
    const { answer, refusals } = windowed();
    await using server = await startFakeLLM(answer);
    const target = openaiCompatible({ model: 'm', baseURL: server.baseURL });
    const { createStop } = await import('../../../src/pipeline/index.ts');
    const { wrapModels } = await import('../../../src/train/index.ts');
    const { parseConfig } = await import('../../../src/core/contracts/index.ts');
    const config = parseConfig({ workers: 1 });
    const models = { target, optimizer: target, caches: undefined, observers: [], stop: createStop() };
    const wrapped = wrapModels({ config, ...models });
    const calls = [0, 1, 2].map((sampleIndex) => wrapped.target.complete({ messages, sampleIndex }));
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(refusals()).toBe(0);
  });
});
