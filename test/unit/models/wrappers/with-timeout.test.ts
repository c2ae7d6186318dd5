import { expect, it } from 'vitest';
import type { ChatModel } from '../../../../src/core/contracts/index.ts';
import { openaiCompatible, scripted, withTimeout } from '../../../../src/public/models.ts';
import { startFakeLLM } from '../../../../src/testing/index.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };

it('fails a call without an answer in a way that is worth another try', async () => {
  await using server = await startFakeLLM(() => new Promise(() => {}));
  const model = withTimeout(openaiCompatible({ model: 'm', baseURL: server.baseURL }), 20);
  await expect(model.complete(request)).rejects.toMatchObject({
    name: 'ModelCallError',
    isRetryable: true,
    message: `${model.id} gave no answer within 0.02 s`,
  });
});

it('aborts the call below, with the time-out as reason', async () => {
  const model = scripted('slow', () => new Promise(() => {}));
  const failure = await withTimeout(model, 5)
    .complete(request)
    .catch((error) => error);
  expect(model.requests[0]?.signal?.reason).toBe(failure);
});

it('wins over a model that does not listen', async () => {
  const deaf: ChatModel = { id: 'deaf', complete: () => new Promise(() => {}) };
  await expect(withTimeout(deaf, 5).complete(request)).rejects.toThrow('deaf gave no answer within 0.005 s');
});

it('takes a time beyond what timers can count for a very long one', async () => {
  const model = scripted('slow', () => new Promise<string>((resolve) => setTimeout(() => resolve('hi'), 20)));
  const reply = await withTimeout(model, Number.MAX_SAFE_INTEGER).complete(request);
  expect(reply.text).toBe('hi');
});
