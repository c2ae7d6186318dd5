import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { strictSchema } from '../../../src/models/ai-sdk/ai-sdk-model.ts';
import { ask } from '../../../src/pipeline/ask/ask.ts';
import { createStageDeps, rankAndSelect, runMinibatchReflect } from '../../../src/pipeline/index.ts';
import {
  anthropicChat,
  azureChat,
  createBudget,
  fromAiSdk,
  googleChat,
  openaiChat,
  openaiCompatible,
  qwenChat,
  withBudget,
  withRetry,
} from '../../../src/public/models.ts';
import { type FakeRequest, startFakeLLM } from '../../../src/testing/index.ts';

const apiKey = 'live-3141592653589793';
const messages = [{ role: 'user' as const, content: 'Which?' }];
const schema = z.object({ reasoning: z.string().nullish(), selectedIndices: z.array(z.number().int().min(0)) });
const sent = {
  type: 'object',
  properties: {
    reasoning: { type: ['string', 'null'] },
    selected_indices: { type: 'array', items: { type: 'integer' } },
  },
  required: ['reasoning', 'selected_indices'],
  additionalProperties: false,
};
const json = '{"reasoning": null, "selected_indices": [1]}';

const chatCompletions = ({ response_format: format }: FakeRequest) =>
  (format as { json_schema?: { strict: boolean; schema: unknown } } | undefined)?.json_schema?.schema;
const anthropic = ({ output_config: config }: FakeRequest) =>
  (config as { format?: { schema: unknown } } | undefined)?.format?.schema;
const google = ({ generationConfig: config }: FakeRequest) =>
  (config as { responseSchema?: unknown } | undefined)?.responseSchema;

const googleSent = {
  type: 'object',
  properties: {
    reasoning: { type: 'string', nullable: true },
    selected_indices: { type: 'array', items: { type: 'integer' } },
  },
  required: ['reasoning', 'selected_indices'],
};

const rows = {
  openaiChat: { make: openaiChat, read: chatCompletions, expected: sent },
  azureChat: { make: azureChat, read: chatCompletions, expected: sent },
  anthropicChat: { make: anthropicChat, read: anthropic, expected: sent },
  googleChat: { make: googleChat, read: google, expected: googleSent },
};

describe.each(Object.entries(rows))('%s', (_name, { make, read, expected }) => {
  it('holds the model to the schema of a request, in snake_case', async () => {
    await using server = await startFakeLLM([json, 'hi']);
    const model = make({ model: 'm', baseURL: server.baseURL, apiKey });
    expect((await model.complete({ messages, schema })).text).toBe(json);
    await model.complete({ messages });
    expect(server.requests.map(read)).toEqual([expected, undefined]);
    expect(model.id).toContain('structuredOutput=auto');
  });

  it('asks in words when told to', async () => {
    await using server = await startFakeLLM([json]);
    const model = make({ model: 'm', baseURL: server.baseURL, apiKey, structuredOutput: 'off' });
    await model.complete({ messages, schema });
    expect(server.requests.map(read)).toEqual([undefined]);
    expect(model.id).not.toContain('structuredOutput');
  });

  it('asks in words once the schema was refused', async () => {
    const refusal = { status: 400, content: "Invalid parameter: 'response_format' of type 'json_schema'" };
    await using server = await startFakeLLM([refusal, json, json]);
    const model = withRetry(make({ model: 'm', baseURL: server.baseURL, apiKey }));
    expect((await model.complete({ messages, schema })).text).toBe(json);
    expect((await model.complete({ messages, schema })).text).toBe(json);
    expect(server.requests.map(read)).toEqual([expected, undefined, undefined]);
  });
});

describe('a refused schema', () => {
  const refusal = { status: 400, content: 'response_format is not supported' };

  it('is worth a try at once, and says what to do about it', async () => {
    await using server = await startFakeLLM([refusal]);
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, apiKey });
    await expect(model.complete({ messages, schema })).rejects.toMatchObject({
      name: 'ModelCallError',
      status: 400,
      isRetryable: true,
      isFatal: false,
      retryAfterMs: 0,
      message: expect.stringContaining('response_format is not supported'),
      hint: expect.stringContaining('structuredOutput'),
    });
  });

  it('counts as a call against the budget', async () => {
    await using server = await startFakeLLM([refusal, json]);
    const budget = createBudget({ maxCalls: 1 });
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, apiKey });
    const within = withRetry(withBudget(model, budget, { countTokens: () => 1 }));
    await expect(within.complete({ messages, schema })).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(server.requests).toHaveLength(1);
  });

  it('of many calls side by side costs each of them one try', async () => {
    await using server = await startFakeLLM((request) => (chatCompletions(request) ? refusal : json));
    const model = withRetry(openaiChat({ model: 'm', baseURL: server.baseURL, apiKey }));
    const calls = [0, 1, 2, 3].map((sampleIndex) => model.complete({ messages, schema, sampleIndex }));
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual([json, json, json, json]);
    expect(server.requests.length).toBeLessThanOrEqual(8);
  });

  it('is no other 400', async () => {
    await using server = await startFakeLLM([{ status: 400, content: 'temperature must be at most 2' }]);
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, apiKey });
    await expect(model.complete({ messages, schema })).rejects.toMatchObject({ status: 400, isRetryable: false });
  });

  it('cannot be, where none was sent', async () => {
    await using server = await startFakeLLM([refusal]);
    const model = openaiChat({ model: 'm', baseURL: server.baseURL, apiKey });
    await expect(model.complete({ messages })).rejects.toMatchObject({ status: 400, isRetryable: false });
  });
});

describe('an endpoint of one’s own', () => {
  it.each([openaiCompatible, qwenChat])('is sent a schema only when told so: %o', async (make) => {
    await using server = await startFakeLLM([json, json]);
    const options = { model: 'm', baseURL: server.baseURL };
    await make(options).complete({ messages, schema });
    await make({ ...options, structuredOutput: 'auto' }).complete({ messages, schema });
    expect(server.requests.map(chatCompletions)).toEqual([undefined, sent]);
    expect(make(options).id).not.toContain('structuredOutput');
    expect(make({ ...options, structuredOutput: 'auto' }).id).toContain('structuredOutput=auto');
  });

  it('may be any model of the AI SDK', async () => {
    const { createOpenAI } = await import('@ai-sdk/openai');
    await using server = await startFakeLLM([json]);
    const openai = createOpenAI({ baseURL: server.baseURL, apiKey }).chat('m');
    const model = fromAiSdk(openai, { structuredOutput: 'auto' });
    await model.complete({ messages, schema });
    expect(chatCompletions(server.requests[0]!)).toEqual(sent);
    expect(model.id).toBe('openai.chat:m?structuredOutput=auto');
  });
});

describe('a schema', () => {
  it.each([
    ['a record', z.object({ scores: z.record(z.string(), z.number()) })],
    ['an open object', z.looseObject({ a: z.string() })],
    ['a union', z.object({ a: z.union([z.string(), z.number()]) })],
    ['anything', z.object({ a: z.unknown() })],
    ['a property that may be absent, but not null', z.object({ a: z.string().optional() })],
    ['a list at the top', z.array(z.string())],
    ['a date', z.object({ a: z.date() })],
    ['a name that would not come back', z.object({ URL: z.string() })],
    ['a tuple', z.object({ a: z.tuple([z.string()]) })],
  ])('with %s is not sent', (_what, inexpressible) => {
    expect(strictSchema(inexpressible)).toBeUndefined();
  });

  it('is what the model writes, not what is made of it', () => {
    const trimmed = z.object({ shortName: z.string().transform((text) => text.length) });
    expect(strictSchema(trimmed)).toMatchObject({ properties: { short_name: { type: 'string' } } });
  });
});

describe('the optimizer', () => {
  const env = (baseURL: string) => {
    const optimizer = openaiChat({ model: 'm', baseURL, apiKey });
    return createStageDeps({ target: optimizer, optimizer });
  };

  it('is held to the schema of every stage, and its reply is used', async () => {
    const edits = [
      { op: 'append', target: null, content: 'One.', support_count: null, source_type: null },
      { op: 'append', target: null, content: 'Two.', support_count: 1, source_type: 'success' },
    ];
    const analysis = { batch_size: 1, failure_summary: [], success_patterns: null, patch: { reasoning: null, edits } };
    await using server = await startFakeLLM([JSON.stringify(analysis), json]);
    const deps = env(server.baseURL);
    const results = [{ id: 'a', hard: 0, soft: 0 }];
    const input = { skill: '# Skill\n', results, minibatchSize: 4, editBudget: 2, seed: 1 };
    const [raw] = await runMinibatchReflect(input, deps);
    expect(raw?.patch.edits).toMatchObject([{ content: 'One.', sourceType: 'failure' }, { content: 'Two.' }]);
    const chosen = await rankAndSelect({ skill: '# Skill\n', patch: raw!.patch, editBudget: 1 }, deps);
    expect(chosen.edits).toMatchObject([{ content: 'Two.' }]);
    expect(server.requests.map(chatCompletions)).toEqual([
      expect.objectContaining({
        required: ['batch_size', 'failure_summary', 'success_patterns', 'patch', 'appendix_notes'],
      }),
      expect.objectContaining({ required: ['reasoning', 'selected_indices'] }),
    ]);
  });

  it('is asked in words for what cannot be sent', async () => {
    await using server = await startFakeLLM(['{"by_name": {"a": 1}}']);
    const question = { prompt: 'ranking', stage: 'ranking', user: 'Which?' } as const;
    const open = z.object({ byName: z.record(z.string(), z.number()) });
    expect(await ask({ ...question, schema: open }, env(server.baseURL))).toEqual({ byName: { a: 1 } });
    expect(server.requests[0]).not.toHaveProperty('response_format');
  });
});
