import { expect, it } from 'vitest';
import { scripted } from '../../../src/public/models.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello, you' }], stage: 'rollout' };

it('is a function that keeps its requests', async () => {
  const model = scripted('echo', ({ messages }) => `${messages[0]?.content}!`);
  expect(await model.complete(request)).toEqual({
    text: 'hello, you!',
    usage: { input: 3, cached: 0, output: 3, reasoning: 0 },
    finishReason: 'stop',
  });
  expect(model.requests).toEqual([request]);
});

it('takes whole replies, also when they come late', async () => {
  const usage = { input: 7, cached: 5, output: 1, reasoning: 1 };
  const model = scripted('cut', async () => ({ text: 'hel', usage, finishReason: 'length' as const }));
  expect(await model.complete(request)).toEqual({ text: 'hel', usage, finishReason: 'length' });
});

it('throws what its function throws', async () => {
  const error = new Error('no such line in the script');
  const model = scripted('broken', () => {
    throw error;
  });
  await expect(model.complete(request)).rejects.toBe(error);
});

it('is not asked by a request that has been aborted', async () => {
  const model = scripted('idle', () => 'hi');
  await expect(model.complete({ ...request, signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  expect(model.requests).toEqual([]);
});
