import fc from 'fast-check';
import { type ChatRequest, ModelCallError, PromptTooLongError, SkillError } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { judgeAnswer } from '../../../src/judges/index.ts';
import { decodeError, encodeError, fromWire, toWire, WireError } from '../../../src/workers/wire.ts';

const words = fc.string({ unit: 'grapheme' });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const usage = fc.record({ input: fc.nat(), cached: fc.nat(), output: fc.nat(), reasoning: fc.nat() });
const withoutUndefined = (value: object) => JSON.parse(JSON.stringify(value));

const callError = fc
  .tuple(
    words,
    fc.record(
      {
        ...{ hint: words, status: fc.nat(599), retryAfterMs: fc.nat() },
        ...{ isRetryable: fc.boolean(), isFatal: fc.boolean(), usage },
      },
      { requiredKeys: [] },
    ),
  )
  .map(([message, options]) => new ModelCallError(message, options));
const promptError = fc
  .tuple(words, fc.record({ status: fc.nat(599), promptTokens: fc.nat(), maxTokens: fc.nat() }, { requiredKeys: [] }))
  .map(([message, options]) => new PromptTooLongError(message, options));
const knownError = fc
  .tuple(fc.constantFrom('ENV_FAILED', 'TASKS_INVALID', 'WORKER_MISMATCH'), words, maybe(words))
  .map(([code, message, hint]) => new SkillError(code as 'USAGE', message, hint === undefined ? {} : { hint }));
const plainError = words.map((message) => new Error(message));

describe('an error on its way to another process', () => {
  it('keeps its kind, its words and all that decides what is done about it', () => {
    fc.assert(
      fc.property(fc.oneof(callError, promptError, knownError, plainError), (error) => {
        const letter = JSON.parse(JSON.stringify(encodeError(error)));
        const decoded = decodeError(WireError.parse(letter));
        expect(decoded.constructor).toBe(error.constructor);
        expect(decoded.message).toBe(error.message);
        expect(withoutUndefined({ ...decoded })).toEqual(withoutUndefined({ ...error }));
      }),
    );
  });

  it('leaves keys and its cause behind', () => {
    const key = ['sk', 'proj', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4'].join('-');
    const error = new ModelCallError(`401 for ${key}`, { cause: new Error(key) });
    expect(JSON.stringify(encodeError(error))).not.toContain(key);
  });

  it.each([undefined, null, 'words', 7])('is one, also when %o was thrown', (thrown) => {
    expect(decodeError(encodeError(thrown)).message).toBe(String(thrown));
  });
});

/** What a judge asks in each of its three ways. */
async function judgeRequests(): Promise<ChatRequest[]> {
  const requests: ChatRequest[] = [];
  const judge = {
    id: 'judge',
    async complete(request: ChatRequest) {
      requests.push(request);
      return { text: '{}', usage: { input: 1, cached: 0, output: 1, reasoning: 0 } };
    },
  };
  const subject = { question: 'Why?', answer: 'So.', rubric: 'Short.' };
  const ask = (more: object) => judgeAnswer({ ...subject, ...more, judge } as never);
  await Promise.all([ask({}), ask({ criteria: ['short', 'true'] }), ask({ reference: 'Because.' })]);
  return requests;
}

const schemaOf = ({ schema }: ChatRequest) => z.toJSONSchema(schema!, { io: 'input' });

describe('a request on its way to the process that trains', () => {
  it('has the schema that the judge asked with, so that the provider gets the same request', async () => {
    const requests = await judgeRequests();
    expect(requests.length).toBeGreaterThan(3);
    for (const request of requests) {
      const { isUsable: _, signal: __, schema: ___, ...plain } = request;
      const sent = fromWire(JSON.parse(JSON.stringify(toWire(request))));
      expect(schemaOf(sent)).toEqual(schemaOf(request));
      expect(schemaOf(sent)).toEqual(schemaOf(request)); // it is read for each call
      expect(sent).toMatchObject(plain);
    }
  });

  it('is sent without a schema that cannot be written as JSON Schema', () => {
    const request = { messages: [], schema: z.object({ day: z.date() }) };
    expect(fromWire(toWire(request))).toEqual({ messages: [] });
  });

  it.each([
    ['{"score": 0.5, "reason": "short"}', true],
    ['I think: {"score": 1}', true],
    ['{"score": 2}', false],
    ['no verdict', false],
  ])('tells of %s whether it can be used, as the judge does', async (text, isUsable) => {
    const [request] = await judgeRequests();
    const sent = fromWire(JSON.parse(JSON.stringify(toWire(request!))));
    const reply = { text, finishReason: 'stop' as const, usage: { input: 1, cached: 0, output: 1, reasoning: 0 } };
    expect([request!.isUsable!(reply), sent.isUsable!(reply)]).toEqual([isUsable, isUsable]);
  });
});
