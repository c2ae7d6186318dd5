import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ChatMessage, ModelCallError } from '../../src/core/contracts/index.ts';
import { knowKey } from '../../src/core/guard/index.ts';
import { providerWords } from '../../src/models/ai-sdk/provider-words.ts';
import { scripted, withReplyCache, withRetry } from '../../src/public/models.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };

const retryableError = fc
  .record({
    status: fc.constantFrom(undefined, 408, 409, 425, 429, 500, 502, 503, 529),
    retryAfterMs: fc.option(fc.nat({ max: 1_000_000 }), { nil: undefined }),
  })
  .map((details) => new ModelCallError('for the moment', details));

it('any failures of the moment, fewer than the tries, end in the reply', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(retryableError, { maxLength: 8 }), fc.nat({ max: 3 }), async (errors, spare) => {
      const inner = scripted('s', () => {
        const error = errors[inner.requests.length - 1];
        if (error) throw error;
        return 'hi';
      });
      const delays: number[] = [];
      const delay = async (ms: number) => void delays.push(ms);
      const model = withRetry(inner, { maxRetries: errors.length + spare, delay });
      expect((await model.complete(request)).text).toBe('hi');
      expect(inner.requests).toHaveLength(errors.length + 1);
      expect(delays).toHaveLength(errors.length);
      for (const ms of delays) expect(ms).toSatisfy((wait: number) => wait >= 0 && wait <= 120_000);
    }),
  );
});

const messages = fc.array(
  fc.record<ChatMessage>({ role: fc.constantFrom('system', 'user', 'assistant'), content: fc.string() }),
  { minLength: 1, maxLength: 3 },
);

it('two requests share a reply exactly if their messages are equal', async () => {
  await fc.assert(
    fc.asyncProperty(messages, messages, async (one, other) => {
      const inner = scripted('s', () => 'hi');
      const entries = new Map<string, string>();
      const model = withReplyCache(inner, {
        get: async (key) => entries.get(key),
        set: async (key, value) => void entries.set(key, value),
      });
      await model.complete({ messages: one });
      await model.complete({ messages: other });
      expect(inner.requests.length).toBe(JSON.stringify(one) === JSON.stringify(other) ? 1 : 2);
    }),
  );
});

it('a provider that quotes the key does not bring it into a message, wherever it is cut', () => {
  const key = 'Zq9x-'.repeat(8);
  knowKey(key);
  fc.assert(
    fc.property(fc.string({ maxLength: 600 }), fc.string({ maxLength: 600 }), fc.boolean(), (before, after, isJson) => {
      const said = `${before}${key}${after}`;
      const words = providerWords(isJson ? JSON.stringify({ error: { message: said } }) : said);
      expect(words).not.toContain('Zq9x-');
      expect(words.length).toBeLessThanOrEqual(300);
    }),
  );
});
