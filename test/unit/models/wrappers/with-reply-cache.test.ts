import { describe, expect, it } from 'vitest';
import { type ChatRequest, ModelCallError } from '../../../../src/core/contracts/index.ts';
import { scripted, withReplyCache } from '../../../../src/public/models.ts';

const request: ChatRequest = { messages: [{ role: 'user', content: 'hello' }] };

function memory() {
  const entries = new Map<string, string>();
  return {
    entries,
    get: async (key: string) => entries.get(key),
    set: async (key: string, value: string) => void entries.set(key, value),
  };
}

/** A model that answers when it is told to. */
function held() {
  const held = { release: (_text: string) => {}, fail: (_error: Error) => {} };
  const model = scripted(
    'held',
    () =>
      new Promise<string>((resolve, reject) => {
        held.release = resolve;
        held.fail = reject;
      }),
  );
  return { model, held };
}

const turn = () => new Promise(setImmediate);

it('asks once, and gives the same reply from then on', async () => {
  const inner = scripted('s', () => ({ text: 'hi', finishReason: 'length' as const }));
  const hits: ChatRequest[] = [];
  const model = withReplyCache(inner, memory(), { onHit: (hit) => hits.push(hit) });
  const first = await model.complete(request);
  expect(hits).toEqual([]);
  expect(await model.complete(request)).toEqual(first);
  expect(hits).toEqual([request]);
  expect(inner.requests).toHaveLength(1);
});

it('serves another process from the same entries', async () => {
  const cache = memory();
  await withReplyCache(
    scripted('s', () => 'hi'),
    cache,
  ).complete(request);
  const later = scripted('s', () => 'not asked');
  expect((await withReplyCache(later, cache).complete(request)).text).toBe('hi');
  expect([...cache.entries.keys()]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
});

describe('a reply that its caller cannot use', () => {
  const isUsable = ({ text }: { readonly text: string }) => text === 'yes';

  it('is given, not kept, and asked for again the next time', async () => {
    const cache = memory();
    const answers = ['no', 'no', 'yes', 'never'];
    const inner = scripted('s', () => answers.shift()!);
    const model = withReplyCache(inner, cache);
    const asked = { ...request, isUsable };
    const replies = [];
    for (let times = 0; times < 5; times++) replies.push((await model.complete(asked)).text);
    expect(replies).toEqual(['no', 'no', 'yes', 'yes', 'yes']);
    expect(cache.entries.size).toBe(1);
  });

  it('is not served though an earlier version kept it', async () => {
    const cache = memory();
    const first = withReplyCache(
      scripted('s', () => 'no'),
      cache,
    );
    await first.complete(request);
    const later = withReplyCache(
      scripted('s', () => 'yes'),
      cache,
    );
    expect((await later.complete({ ...request, isUsable })).text).toBe('yes');
  });
});

describe('a reply is kept under what it depends on', () => {
  const variants: [string, ChatRequest][] = [
    ['messages', { messages: [{ role: 'user', content: 'hello!' }] }],
    ['roles', { messages: [{ role: 'system', content: 'hello' }] }],
    ['the token limit', { ...request, maxOutputTokens: 7 }],
    ['the temperature', { ...request, temperature: 0 }],
    ['the sample index', { ...request, sampleIndex: 1 }],
  ];

  it.each(variants)('%s', async (_what, variant) => {
    const inner = scripted('s', () => 'hi');
    const model = withReplyCache(inner, memory());
    await model.complete(request);
    await model.complete(variant);
    expect(inner.requests).toHaveLength(2);
  });

  it('the model', async () => {
    const cache = memory();
    await withReplyCache(
      scripted('one', () => 'hi'),
      cache,
    ).complete(request);
    expect(
      (
        await withReplyCache(
          scripted('other', () => 'ho'),
          cache,
        ).complete(request)
      ).text,
    ).toBe('ho');
  });

  it('and nothing else', async () => {
    const inner = scripted('s', () => 'hi');
    const model = withReplyCache(inner, memory());
    await model.complete(request);
    await model.complete({ ...request, stage: 'rollout', sampleIndex: 0, signal: new AbortController().signal });
    expect(inner.requests).toHaveLength(1);
  });
});

it.each(['', '{"text":"hi","usage":', '"hi"', '{"text":"hi"}', 'null'])(
  'takes the unreadable entry %j for a missing one, and replaces it',
  async (entry) => {
    const cache = memory();
    await withReplyCache(
      scripted('s', () => 'hi'),
      cache,
    ).complete(request);
    for (const key of cache.entries.keys()) cache.entries.set(key, entry);
    const inner = scripted('s', () => 'hi again');
    const model = withReplyCache(inner, cache);
    await model.complete(request);
    expect((await model.complete(request)).text).toBe('hi again');
    expect(inner.requests).toHaveLength(1);
  },
);

it('does not keep a failure', async () => {
  const error = new ModelCallError('busy', { status: 503 });
  const inner = scripted('s', () => {
    if (inner.requests.length === 1) throw error;
    return 'hi';
  });
  const model = withReplyCache(inner, memory());
  await expect(model.complete(request)).rejects.toBe(error);
  expect((await model.complete(request)).text).toBe('hi');
});

describe('equal requests at the same time', () => {
  it('share one call', async () => {
    const { model: inner, held: answer } = held();
    const hits: ChatRequest[] = [];
    const model = withReplyCache(inner, memory(), { onHit: (hit) => hits.push(hit) });
    const calls = [model.complete(request), model.complete({ ...request, stage: 'second' })];
    await turn();
    answer.release('hi');
    expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(['hi', 'hi']);
    expect(inner.requests).toHaveLength(1);
    expect(hits.map(({ stage }) => stage)).toEqual(['second']);
  });

  it('share its failure', async () => {
    const { model: inner, held: answer } = held();
    const model = withReplyCache(inner, memory());
    const calls = Promise.allSettled([model.complete(request), model.complete(request)]);
    await turn();
    answer.fail(new Error('down'));
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('go on when the one that came first is aborted', async () => {
    const { model: inner, held: answer } = held();
    const model = withReplyCache(inner, memory());
    const first = new AbortController();
    const aborted = model.complete({ ...request, signal: first.signal });
    const second = model.complete(request);
    await turn();
    first.abort(new Error('gone'));
    await expect(aborted).rejects.toThrow('gone');
    answer.release('hi');
    expect((await second).text).toBe('hi');
    expect(inner.requests).toHaveLength(1);
  });

  it('give up the call when all are aborted, and a later one asks again', async () => {
    const { model: inner, held: answer } = held();
    const model = withReplyCache(inner, memory());
    const controller = new AbortController();
    const signal = controller.signal;
    const calls = Promise.allSettled([model.complete({ ...request, signal }), model.complete({ ...request, signal })]);
    await turn();
    controller.abort(new Error('gone'));
    expect((await calls).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(inner.requests[0]?.signal?.aborted).toBe(true);
    const later = model.complete(request);
    await turn();
    answer.release('hi');
    expect((await later).text).toBe('hi');
    expect(inner.requests).toHaveLength(2);
  });
});
