import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLimit, createStop } from '../../../src/pipeline/index.ts';

/** Work that waits to be let go, and keeps count of itself. */
function createWork() {
  const started: number[] = [];
  const release: Record<number, (error?: Error) => void> = {};
  const work = (item: number) =>
    new Promise<string>((resolve, reject) => {
      started.push(item);
      release[item] = (error) => (error ? reject(error) : resolve(`done ${item}`));
    });
  return { started, release, work };
}

describe('limit.map', () => {
  it('answers in the order of the items, whatever finishes first', async () => {
    const { release, work } = createWork();
    const answers = createLimit(3, createStop()).map([1, 2, 3], work);
    await tick();
    for (const item of [3, 1, 2]) release[item]!();
    expect(await answers).toEqual(['done 1', 'done 2', 'done 3']);
  });

  it('starts as many as there are workers, and the next when one is done', async () => {
    const { started, release, work } = createWork();
    const answers = createLimit(2, createStop()).map([1, 2, 3], work);
    await tick();
    expect(started).toEqual([1, 2]);
    release[2]!();
    await tick();
    expect(started).toEqual([1, 2, 3]);
    release[1]!();
    release[3]!();
    await answers;
  });

  it('shares its slots between all calls', async () => {
    const { started, release, work } = createWork();
    const limit = createLimit(2, createStop());
    const all = Promise.all([limit.map([1, 2], work), limit.run(() => work(3)), limit.map([4], work)]);
    for (const item of [1, 2, 3, 4]) {
      await tick();
      expect(started.length).toBeLessThanOrEqual(item + 1);
      release[item]!();
    }
    await all;
    expect(started).toEqual([1, 2, 3, 4]);
  });

  it('starts nothing new after a failure, waits for what runs, and throws that failure', async () => {
    const { started, release, work } = createWork();
    const stop = createStop();
    let isSettled = false;
    const answers = createLimit(2, stop).map([1, 2, 3], work);
    const settled = answers.catch((error) => error).finally(() => (isSettled = true));
    await tick();
    release[1]!(new Error('out'));
    await tick();
    expect([stop.signal.aborted, isSettled, started]).toEqual([true, false, [1, 2]]);
    release[2]!(new Error('later and of no interest'));
    expect(await settled).toEqual(new Error('out'));
    expect(started).toEqual([1, 2]);
  });

  it('is over at once when the run has stopped before', async () => {
    const { started, work } = createWork();
    const stop = createStop();
    stop.halt(new Error('stopped'));
    await expect(createLimit(2, stop).map([1, 2], work)).rejects.toThrow('stopped');
    await expect(createLimit(2, stop).run(() => work(1))).rejects.toThrow('stopped');
    expect(started).toEqual([]);
  });

  it('has no answers for no items', async () => {
    expect(await createLimit(1, createStop()).map([], async () => 1)).toEqual([]);
  });
});
