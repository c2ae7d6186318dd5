import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { Slot } from '../../../src/core/contracts/index.ts';
import {
  createLimiterPool,
  createRateLimiter,
  type RateLimitChange,
  type RateLimiter,
  type RateLimiterOptions,
} from '../../../src/public/models.ts';

/** A limiter whose clock and alarms the test moves. */
function manualLimiter(options: RateLimiterOptions = {}) {
  let time = 0;
  const alarms: { at: number; ring: () => void; signal: AbortSignal }[] = [];
  const changes: RateLimitChange[] = [];
  const limiter = createRateLimiter({
    now: () => time,
    delay: (ms, signal) => new Promise<void>((ring) => alarms.push({ at: time + ms, ring, signal })),
    onChange: (change) => changes.push(change),
    ...options,
  });
  const pass = async (ms: number) => {
    time += ms;
    for (const { at, ring } of alarms) if (at <= time) ring();
    await settled();
  };
  return { limiter, changes, alarms, pass };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

const acquireAll = (limiter: RateLimiter, count: number): Promise<Slot[]> =>
  Promise.all(Array.from({ length: count }, () => limiter.acquire()));

/** Asks for slots and notes the order in which they come. */
function queueUp(limiter: RateLimiter, names: readonly string[], isAgain = false) {
  const started: string[] = [];
  const slots: Slot[] = [];
  for (const name of names) {
    void limiter.acquire({ isAgain }).then((slot) => {
      started.push(name);
      slots.push(slot);
    });
  }
  return { started, slots };
}

it('lets no more than the limit through, and the others wait', async () => {
  const { limiter } = manualLimiter({ initial: 3 });
  const { started } = queueUp(limiter, ['a', 'b', 'c', 'd', 'e']);
  await settled();
  expect(started).toEqual(['a', 'b', 'c']);
  expect(limiter.state()).toEqual({ calls: 3, inFlight: 3, waiting: 2 });
});

it('serves in the order of asking, and those who were refused before the others', async () => {
  const { limiter } = manualLimiter({ initial: 1, max: 1 });
  const first = await limiter.acquire();
  const line = queueUp(limiter, ['a', 'b', 'c']);
  const again = queueUp(limiter, ['x', 'y'], true);
  first.release();
  const order: string[] = [];
  for (let i = 0; i < 5; i++) {
    await settled();
    order.push(...again.started.splice(0), ...line.started.splice(0));
    (again.slots.shift() ?? line.slots.shift())!.release();
  }
  expect(order).toEqual(['x', 'y', 'a', 'b', 'c']);
});

it('takes a slot back once, however often it is given back', async () => {
  const { limiter } = manualLimiter({ initial: 2 });
  const [slot] = await acquireAll(limiter, 2);
  slot!.release();
  slot!.release();
  slot!.refuse();
  expect(limiter.state()).toMatchObject({ inFlight: 1, calls: 2 });
});

describe('the limit', () => {
  it('doubles with each round until the first refusal', async () => {
    const { limiter } = manualLimiter({ initial: 4 });
    const { slots } = queueUp(limiter, Array(100).fill('call'));
    for (const calls of [8, 16, 32]) {
      await settled();
      for (const slot of slots.splice(0)) slot.succeed();
      expect(limiter.state().calls).toBe(calls);
    }
  });

  it('does not grow while it is not reached', async () => {
    const { limiter } = manualLimiter({ initial: 4 });
    for (let i = 0; i < 20; i++) (await limiter.acquire()).succeed();
    expect(limiter.state().calls).toBe(4);
  });

  it('never passes its most', async () => {
    const { limiter } = manualLimiter({ initial: 4, max: 5 });
    const { slots } = queueUp(limiter, Array(40).fill('call'));
    for (let i = 0; i < 20; i++) {
      await settled();
      slots.shift()?.succeed();
    }
    expect(limiter.state().calls).toBe(5);
  });

  it('is cut once by calls that are refused together', async () => {
    const { limiter, changes } = manualLimiter({ initial: 10 });
    const slots = await acquireAll(limiter, 10);
    for (const slot of slots.slice(0, 5)) slot.refuse();
    expect(limiter.state().calls).toBe(9);
    slots[5]!.succeed();
    for (const slot of slots.slice(6)) slot.refuse(); // in flight when the cut came, refused after the episode
    expect(limiter.state().calls).toBe(9);
    expect(changes).toEqual([{ type: 'limit', reason: 'cut', calls: 9 }]);
  });

  it('is cut again by a call that began after the cut', async () => {
    const { limiter } = manualLimiter({ initial: 10 });
    const [refused, answered] = await acquireAll(limiter, 2);
    refused!.refuse();
    answered!.succeed();
    (await limiter.acquire()).refuse();
    expect(limiter.state().calls).toBe(8); // 10 × 0.9 × 0.9
  });

  it('grows by half a call per round after a cut', async () => {
    const { limiter, changes } = manualLimiter({ initial: 10 });
    const [refused, answered] = await acquireAll(limiter, 2);
    refused!.refuse();
    answered!.succeed();
    const { slots } = queueUp(limiter, Array(100).fill('call'));
    for (let i = 0; i < 17; i++) {
      await settled();
      slots.shift()!.succeed();
    }
    expect(limiter.state().calls).toBe(9);
    for (let i = 0; i < 3; i++) {
      await settled();
      slots.shift()!.succeed();
    }
    expect(limiter.state().calls).toBe(10);
    expect(changes.at(-1)).toEqual({ type: 'limit', reason: 'raised', calls: 10 });
  });

  it('never falls below one call', async () => {
    const { limiter, pass } = manualLimiter({ initial: 1 });
    for (let i = 0; i < 5; i++) {
      const slot = limiter.acquire();
      await pass(100_000);
      (await slot).refuse();
    }
    expect(limiter.state().calls).toBe(1);
  });
});

describe('an episode of refusals', () => {
  it('starts no call as long as those in flight can tell more', async () => {
    const { limiter } = manualLimiter({ initial: 3 });
    const slots = await acquireAll(limiter, 3);
    const { started } = queueUp(limiter, ['a', 'b', 'c']);
    slots[0]!.refuse();
    slots[1]!.refuse();
    await settled();
    expect(started).toEqual([]);
    slots[2]!.succeed();
    await settled();
    expect(started).toEqual(['a', 'b']);
  });

  it('ends with a call that fails for another reason', async () => {
    const { limiter } = manualLimiter({ initial: 3 });
    const slots = await acquireAll(limiter, 3);
    const { started } = queueUp(limiter, ['a', 'b', 'c']);
    slots[0]!.refuse();
    slots[1]!.release();
    await settled();
    expect(started).toEqual(['a']);
  });

  it('without any answer pauses the key, longer each time, and tries one call at a time', async () => {
    const { limiter, changes, pass } = manualLimiter({ initial: 3, firstPauseMs: 100 });
    const slots = await acquireAll(limiter, 3);
    const line = queueUp(limiter, ['a', 'b', 'c', 'd']);
    for (const slot of slots) slot.refuse();
    await pass(99);
    expect(line.started).toEqual([]);
    await pass(1);
    expect(line.started).toEqual(['a']);
    line.slots[0]!.refuse();
    await pass(199);
    expect(line.started).toEqual(['a']);
    await pass(1);
    expect(line.started).toEqual(['a', 'b']);
    line.slots[1]!.succeed();
    await settled();
    expect(line.started).toEqual(['a', 'b', 'c', 'd']);
    const pauses = changes.filter(({ type }) => type === 'pause');
    expect(pauses).toEqual([
      { type: 'pause', reason: 'refused', pauseMs: 100 },
      { type: 'pause', reason: 'refused', pauseMs: 200 },
    ]);
    expect(changes.filter(({ reason }) => reason === 'cut')).toHaveLength(1);
  });

  it('pauses for as long as the first time once a call was answered', async () => {
    const { limiter, changes, pass } = manualLimiter({ initial: 1, firstPauseMs: 100 });
    const nextSlot = async () => {
      const slot = limiter.acquire();
      await pass(1_000);
      return await slot;
    };
    (await nextSlot()).refuse();
    (await nextSlot()).refuse();
    (await nextSlot()).succeed();
    (await nextSlot()).refuse();
    const pauses = changes.flatMap((change) => (change.type === 'pause' ? [change.pauseMs] : []));
    expect(pauses).toEqual([100, 200, 100]);
  });
});

describe('a pause', () => {
  it('that the provider asks for holds the whole key', async () => {
    const { limiter, changes, pass } = manualLimiter({ initial: 3 });
    const [slot] = await acquireAll(limiter, 2);
    slot!.refuse(7_000);
    const { started } = queueUp(limiter, ['a']);
    await pass(6_999);
    expect(started).toEqual([]);
    await pass(1);
    expect(started).toEqual([]); // the other call in flight is still to tell
    expect(changes).toContainEqual({ type: 'pause', reason: 'asked', pauseMs: 7_000 });
  });

  it('is not made shorter by a shorter one', async () => {
    const { limiter, changes, pass } = manualLimiter();
    limiter.pause(1_000);
    limiter.pause(10);
    const { started } = queueUp(limiter, ['a']);
    await pass(999);
    expect(started).toEqual([]);
    await pass(1);
    expect(started).toEqual(['a']);
    expect(changes).toHaveLength(1);
  });

  it('is made longer by a longer one', async () => {
    const { limiter, pass } = manualLimiter();
    limiter.pause(1_000);
    const { started } = queueUp(limiter, ['a']);
    limiter.pause(2_000);
    await pass(1_999);
    expect(started).toEqual([]);
    await pass(1);
    expect(started).toEqual(['a']);
  });

  it('is kept within reason', async () => {
    const { limiter, pass } = manualLimiter();
    limiter.pause(86_400_000);
    const { started } = queueUp(limiter, ['a']);
    await pass(120_000);
    expect(started).toEqual(['a']);
  });

  it('passes on the real clock too', async () => {
    const limiter = createRateLimiter();
    limiter.pause(5);
    (await limiter.acquire()).succeed();
    expect(limiter.state()).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('for which nobody waits any more keeps no timer', async () => {
    const { limiter, alarms } = manualLimiter();
    const controller = new AbortController();
    limiter.pause(60_000);
    const slot = limiter.acquire({ signals: [controller.signal] });
    controller.abort(new Error('Ctrl-C'));
    await expect(slot).rejects.toThrow('Ctrl-C');
    expect(alarms.map(({ signal }) => signal.aborted)).toEqual([true]);
  });
});

describe('an abort', () => {
  it('ends the wait at once with its reason, and nobody loses a place', async () => {
    const { limiter } = manualLimiter({ initial: 1, max: 1 });
    const held = await limiter.acquire();
    const controller = new AbortController();
    const reason = new Error('stopped');
    const gone = limiter.acquire({ signals: [undefined, controller.signal] });
    const { started } = queueUp(limiter, ['next']);
    controller.abort(reason);
    await expect(gone).rejects.toBe(reason);
    held.succeed();
    await settled();
    expect(started).toEqual(['next']);
  });

  it('that came before takes no slot', async () => {
    const { limiter } = manualLimiter();
    const reason = new Error('stopped before');
    await expect(limiter.acquire({ signals: [AbortSignal.abort(reason)] })).rejects.toBe(reason);
    expect(limiter.state()).toMatchObject({ inFlight: 0, waiting: 0 });
  });

  it('leaves no listener when it never comes', async () => {
    const { limiter } = manualLimiter();
    const { signal } = new AbortController();
    await limiter.acquire({ signals: [signal] });
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});

it('is one per key in a pool, and pools share none', () => {
  const pool = createLimiterPool((key) => ({ initial: key === 'openai' ? 2 : 3 }));
  expect(pool.sharedLimiter('openai')).toBe(pool.sharedLimiter('openai'));
  expect(pool.sharedLimiter('openai').state().calls).toBe(2);
  expect(pool.sharedLimiter('anthropic').state().calls).toBe(3);
  expect(createLimiterPool().sharedLimiter('openai')).not.toBe(pool.sharedLimiter('openai'));
});
