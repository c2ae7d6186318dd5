import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPost } from '../../../src/workers/post.ts';
import { openServer } from '../../../src/workers/redis.ts';
import { lacksRedis, startRedis, type TestRedis } from '../../support/workers/start-redis.ts';

type Asked = { double: [number, number]; fail: [string, never] };

describe.skipIf(lacksRedis())('the post between processes', () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.[Symbol.asyncDispose]());

  /** One end of the post, and a far side that writes letters by hand. */
  async function open() {
    const handled: number[] = [];
    const post = await openPost<Asked, Asked>(
      await openServer(redis.url),
      {
        async double(value) {
          handled.push(value);
          return value * 2;
        },
        fail: (words) => Promise.reject(new Error(words)),
      },
      { away: () => undefined, lost: () => undefined },
    );
    const far = redis.connect();
    const box = `hand-${post.address}`;
    return {
      ...{ post, handled, box },
      write: (...letters: readonly (object | string | null)[]) =>
        far.rpush(
          `skillopt:post:${post.address}`,
          ...letters.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))),
        ),
      read: async () => JSON.parse((await far.blpop(`skillopt:post:${box}`, 30))![1]),
      [Symbol.dispose]: () => post.close(),
    };
  }

  it('handles a question once, however often it comes, and answers again when it is reminded', async () => {
    using end = await open();
    const ask = { type: 'ask', id: 'one', from: end.box, kind: 'double', body: 4 };
    await end.write(ask, ask);
    expect(await end.read()).toEqual({ type: 'answer', id: 'one', value: 8 });
    await end.write(ask, { type: 'remind', id: 'one', from: end.box });
    expect(await end.read()).toEqual({ type: 'answer', id: 'one', value: 8 });
    expect(end.handled).toEqual([4]);
  });

  it('asks for a question of which it knows only a reminder', async () => {
    using end = await open();
    await end.write({ type: 'remind', id: 'lost', from: end.box });
    expect(await end.read()).toEqual({ type: 'repeat', id: 'lost' });
    await end.write({ type: 'ask', id: 'lost', from: end.box, kind: 'double', body: 1 });
    expect(await end.read()).toMatchObject({ id: 'lost', value: 2 });
  });

  it('sends a lost question again, and takes answers in any order and only once', async () => {
    using end = await open();
    const answers = Promise.all([end.post.ask(end.box, 'double', 1), end.post.ask(end.box, 'double', 2)]);
    const [first, second] = [await end.read(), await end.read()];
    await end.write({ type: 'repeat', id: first.id });
    expect(await end.read()).toEqual(first);
    const answer = (id: string, value: number) => ({ type: 'answer', id, value });
    await end.write(answer('of nobody', 0), answer(second.id, 4), answer(second.id, 5), answer(first.id, 2));
    expect(await answers).toEqual([2, 4]);
  });

  it('passes malformed letters over, and handles those beside them', async () => {
    using end = await open();
    const answer = { type: 'answer', id: 'one' };
    await end.write(
      ...[
        'null',
        '7',
        '"text"',
        '[]',
        'no JSON',
        '{"type":"ask"}',
        '{"type":"remind","id":"x"}',
        '{"type":"odd","id":"1"}',
      ],
      ...[
        { ...answer, error: 'odd' },
        { ...answer, error: { type: 'call' } },
        { type: 'ask', id: 7, from: {}, kind: [] },
      ],
      { type: 'ask', id: 'two', from: end.box, kind: 'double', body: 3 },
    );
    expect(await end.read()).toEqual({ type: 'answer', id: 'two', value: 6 });
  });

  it('lets letters go away that nobody fetches, also behind some that were fetched', async () => {
    using end = await open();
    for (const id of ['fetched', 'left']) {
      await end.write({ type: 'remind', id, from: end.box });
      if (id === 'fetched') await end.read();
    }
    const box = `skillopt:post:${end.box}`;
    const client = redis.connect();
    await expect.poll(() => client.llen(box)).toBe(1);
    await expect.poll(() => client.ttl(box)).toBeGreaterThan(0);
  });

  it.each(['odd', 'constructor', '__proto__'])('refuses a question of the kind %s', async (kind) => {
    using end = await open();
    await end.write({ type: 'ask', id: 'one', from: end.box, kind, body: 3 });
    const message = `nobody answers "${kind}" here`;
    expect(await end.read()).toMatchObject({ id: 'one', error: { type: 'other', message } });
  });

  it('throws what the other side threw, and stops to wait when its signal says so', async () => {
    using one = await open();
    using other = await open();
    await expect(one.post.ask(other.post.address, 'fail', 'it broke')).rejects.toThrow('it broke');
    const stop = new AbortController();
    const waiting = one.post.ask('nobody', 'double', 1, stop.signal);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});
