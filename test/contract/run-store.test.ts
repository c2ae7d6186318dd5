import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunStore } from '../../src/core/run/index.ts';
import { memoryRun, runDirectory } from '../../src/stores/index.ts';
import { stepEnd, temporaryDirectory } from '../unit/stores/run-directory.fixture.ts';

type Place = AsyncDisposable & { readonly store: RunStore };

const stores: Record<string, () => Promise<Place>> = {
  async runDirectory() {
    const folder = await temporaryDirectory();
    const store = runDirectory(join(folder.path, 'runs', 'one'));
    return { store, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
  },
  async memoryRun() {
    return { store: memoryRun(), [Symbol.asyncDispose]: async () => undefined };
  },
};

describe.each(Object.entries(stores))('%s is a RunStore', (_, makePlace) => {
  it('is empty before its first event, and reading does not begin it', async () => {
    await using place = await makePlace();
    expect(await place.store.read()).toEqual([]);
    expect(await place.store.read()).toEqual([]);
    expect(place.store.name).not.toBe('');
  });

  it('gives events back in the order of the calls, also when nobody waited in between', async () => {
    await using place = await makePlace();
    await using run = await place.store.open();
    await run.append(stepEnd(1));
    await Promise.all([2, 3, 4, 5].map((step) => run.append(stepEnd(step))));
    expect(await place.store.read()).toEqual([1, 2, 3, 4, 5].map(stepEnd));
  });

  it('keeps events as they were when they were appended', async () => {
    await using place = await makePlace();
    await using run = await place.store.open();
    const event = { ...stepEnd(1) };
    await run.append(event);
    Object.assign(event, { step: 99 });
    expect(await place.store.read()).toEqual([stepEnd(1)]);
  });

  it('continues after it is opened again', async () => {
    await using place = await makePlace();
    for (const step of [1, 2, 3]) {
      await using run = await place.store.open();
      await run.append(stepEnd(step));
    }
    expect(await place.store.read()).toEqual([1, 2, 3].map(stepEnd));
  });

  it('keeps both caches over a reopening, apart from each other', async () => {
    await using place = await makePlace();
    {
      await using run = await place.store.open();
      await run.caches.replies.set('key', 'a reply');
      await run.caches.rollouts.set('key', 'a rollout');
    }
    await using run = await place.store.open();
    expect(await run.caches.replies.get('key')).toBe('a reply');
    expect(await run.caches.rollouts.get('key')).toBe('a rollout');
    expect(await run.caches.replies.get('another')).toBeUndefined();
  });

  it('keeps the first text under a key', async () => {
    await using place = await makePlace();
    await using run = await place.store.open();
    await run.caches.replies.set('key', 'first');
    await Promise.all([run.caches.replies.set('key', 'second'), run.caches.replies.set('key', 'third')]);
    expect(await run.caches.replies.get('key')).toBe('first');
  });

  it('finds a text that is still being set', async () => {
    await using place = await makePlace();
    await using run = await place.store.open();
    const isSet = Promise.all([run.caches.replies.set('key', 'first'), run.caches.replies.set('key', 'second')]);
    expect(await run.caches.replies.get('key')).toBe('first');
    expect(await run.caches.rollouts.get('key')).toBeUndefined();
    await isSet;
    expect(await run.caches.replies.get('key')).toBe('first');
  });

  it('has one writer at a time, and is free when it is disposed of', async () => {
    await using place = await makePlace();
    const first = await place.store.open();
    await expect(place.store.open()).rejects.toMatchObject({ code: 'RUN_LOCKED' });
    await first[Symbol.asyncDispose]();
    await using second = await place.store.open();
    await first[Symbol.asyncDispose]();
    await expect(place.store.open()).rejects.toMatchObject({ code: 'RUN_LOCKED' });
    await second.append(stepEnd(1));
    expect(await place.store.read()).toEqual([stepEnd(1)]);
  });

  it('can be read while it is being written', async () => {
    await using place = await makePlace();
    await using run = await place.store.open();
    for (const step of [1, 2, 3]) {
      await run.append(stepEnd(step));
      expect(await place.store.read()).toHaveLength(step);
    }
  });
});

it('memoryRun shows its events and views, and can begin with some', async () => {
  const store = memoryRun([stepEnd(1)]);
  await using run = await store.open();
  await run.append(stepEnd(2));
  await run.writeViews({ 'best_skill.md': 'old', 'history.json': '[]' });
  await run.writeViews({ 'best_skill.md': 'new' });
  expect(store.events).toEqual([1, 2].map(stepEnd));
  expect(store.views).toEqual({ 'best_skill.md': 'new', 'history.json': '[]' });
});

it('runDirectory leaves nothing but the cache of a run that had no event', async () => {
  await using folder = await temporaryDirectory();
  const run = await runDirectory(folder.path).open();
  expect((await readdir(folder.path)).sort()).toEqual(['cache', 'events.jsonl', 'run.lock']);
  await run[Symbol.asyncDispose]();
  expect(await readdir(folder.path)).toEqual(['cache']);
});
