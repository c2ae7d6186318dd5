import { describe, expect, it } from 'vitest';
import { ModelCallError, PromptTooLongError } from '../../../src/core/contracts/index.ts';
import { anthropicChat, googleChat, openaiChat, openaiCompatible, withRetry } from '../../../src/public/models.ts';
import { type FakeAnswer, startFakeLLM } from '../../../src/testing/index.ts';

const messages = [
  { role: 'system' as const, content: 'Be brief.' },
  { role: 'user' as const, content: 'the whole secret prompt' },
];

async function failureOf(answer: FakeAnswer, make: typeof openaiChat = openaiCompatible as typeof openaiChat) {
  await using server = await startFakeLLM([answer]);
  const model = withRetry(make({ model: 'm', baseURL: server.baseURL, apiKey: 'live-27182818' }));
  return await model.complete({ messages }).then(
    () => expect.unreachable('the call should have failed'),
    (error: PromptTooLongError) => error,
  );
}

describe('a prompt that is too long for the model', () => {
  it.each([
    ["This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens.", 130001],
    ['Input tokens exceed the configured limit of 128,000 tokens. Your messages resulted in 130,001 tokens.', 130001],
    [
      "This model's maximum context length is 128000 tokens. However, you requested 131025 tokens (130001 in the messages, 1024 in the completion).",
      130001,
    ],
    ["This endpoint's maximum context length is 128000 tokens. However, you requested about 131025 tokens", 131025],
    ['prompt is too long: 130001 tokens > 128000 maximum', 130001],
    ['input length and `max_tokens` exceed context limit: 127000 + 4096 > 128000, decrease input length', 127000],
    ['The input token count (130001) exceeds the maximum number of tokens allowed (128000).', 130001],
    ['The decoder prompt (length 130001) is longer than the maximum model length of 128000.', 130001],
    [
      "You passed 130001 input tokens and requested 1024 output tokens. However, the model's context length is only 128000 tokens",
      130001,
    ],
    [
      "'max_tokens' is too large: 4096. This model's maximum context length is 128000 tokens and your request has 127000 input tokens (4096 > 128000 - 127000).",
      127000,
    ],
    ['request (130001 tokens) exceeds the available context size (128000 tokens), try increasing it', 130001],
  ])('is an error with the sizes: %s', async (content, promptTokens) => {
    const error = await failureOf({ status: 400, content });
    expect(error).toBeInstanceOf(PromptTooLongError);
    expect(error).toMatchObject({ code: 'PROMPT_TOO_LONG', promptTokens, maxTokens: 128_000 });
    expect(error.message).toContain(`too long for the model: ${promptTokens} tokens, and 128000 are allowed (400: `);
  });

  it.each([
    ['openaiChat', openaiChat, 'maximum context length is 8 tokens. However, your messages resulted in 9 tokens.'],
    ['anthropicChat', anthropicChat, 'prompt is too long: 9 tokens > 8 maximum'],
    ['googleChat', googleChat, 'The input token count (9) exceeds the maximum number of tokens allowed (8).'],
  ])('is known to %s', async (_name, make, content) => {
    const error = await failureOf({ status: 400, content }, make as typeof openaiChat);
    expect(error).toMatchObject({ name: 'PromptTooLongError', promptTokens: 9, maxTokens: 8 });
  });

  it.each<[string, FakeAnswer]>([
    ['a code', { status: 400, body: '{"error":{"message":"Too much.","code":"context_length_exceeded"}}' }],
    ['a 413', { status: 413, body: '<title>Request Entity Too Large</title>' }],
    ['words without numbers', { status: 400, content: 'Your input exceeds the context window of this model.' }],
  ])('is estimated when %s tells no size', async (_what, answer) => {
    const error = await failureOf(answer);
    expect(error).toMatchObject({ code: 'PROMPT_TOO_LONG', promptTokens: undefined, maxTokens: undefined });
    expect(error.message).toContain('32 characters, or about 8 tokens');
  });

  it('may be longer than a minute allows, where waiting does not help', async () => {
    const content = 'Request too large for m on tokens per min (TPM): Limit 30000, Requested 41000.';
    expect(await failureOf({ status: 429, content })).toMatchObject({
      code: 'PROMPT_TOO_LONG',
      promptTokens: 41_000,
      maxTokens: 30_000,
    });
  });

  it('is not tried again, stops no run, and is never shown', async () => {
    const error = await failureOf({ status: 400, content: 'prompt is too long: 9 tokens > 8 maximum' });
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ isRetryable: false, isFatal: false, hint: expect.stringContaining('minibatchSize') });
    expect(`${error.stack} ${JSON.stringify(error)}`).not.toMatch(/secret prompt|27182/);
  });

  it.each([
    [400, 'max_tokens is too large: 99999. This model supports at most 16384 completion tokens'],
    [429, 'Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000.'],
    [401, 'prompt is too long'],
  ])('is not every failure: %i %s', async (status, content) => {
    await using server = await startFakeLLM([{ status, content }]);
    const call = openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete({ messages });
    await expect(call).rejects.toMatchObject({ code: 'MODEL_CALL_FAILED', status });
  });
});
