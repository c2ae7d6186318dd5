import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { openCaches } from '../../../src/stores/index.ts';
import { temporaryDirectory } from './run-directory.fixture.ts';

const MEGABYTE = 2 ** 20;
const fileOf = (directory: string) => join(directory, 'cache', 'cache.db');
const textOf = (key: number) => `${key} `.repeat(5000).slice(0, 10_000);

/** Looks at the file as any SQLite program would. */
function inspect<Answer>(directory: string, work: (database: InstanceType<typeof Database>) => Answer): Answer {
  const database = new Database(fileOf(directory));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const usedBytes = (directory: string) =>
  inspect(directory, (database) => {
    const read = (name: string) => (database.prepare(`PRAGMA ${name}`).raw().get() as [number])[0];
    return (read('page_count') - read('freelist_count')) * read('page_size');
  });

const setVersion = (directory: string, version: number) =>
  inspect(directory, (database) => void database.pragma(`user_version = ${version}`));

async function setMany({ replies }: Awaited<ReturnType<typeof openCaches>>, count: number) {
  for (let key = 0; key < count; key += 1) await replies.set(`key ${key}`, textOf(key));
}

async function fill(directory: string, count: number) {
  const caches = await openCaches(directory);
  await setMany(caches, count);
  caches.close();
}

describe('a cache with a largest size', () => {
  it('drops the oldest texts while it is written, and keeps the newest', async () => {
    await using folder = await temporaryDirectory();
    const caches = await openCaches(folder.path, { maxCacheMb: 1 });
    await setMany(caches, 400);
    expect(await caches.replies.get('key 0')).toBeUndefined();
    for (let key = 350; key < 400; key += 1) expect(await caches.replies.get(`key ${key}`)).toBe(textOf(key));
    await caches.replies.set('key 1', textOf(1));
    expect(await caches.replies.get('key 1'), 'can be set again').toBe(textOf(1));
    caches.close();
    expect(usedBytes(folder.path)).toBeLessThan(1.2 * MEGABYTE);
    expect((await stat(fileOf(folder.path))).size, 'freed pages are used again').toBeLessThan(1.5 * MEGABYTE);
  });

  it('drops what is too much when it is opened', async () => {
    await using folder = await temporaryDirectory();
    await fill(folder.path, 200);
    const small = await openCaches(folder.path, { maxCacheMb: 1 });
    expect(await small.replies.get('key 0')).toBeUndefined();
    expect(await small.replies.get('key 199')).toBe(textOf(199));
    small.close();
    expect(usedBytes(folder.path)).toBeLessThan(MEGABYTE);
  });

  it('drops nothing below it', async () => {
    await using folder = await temporaryDirectory();
    await fill(folder.path, 50);
    const caches = await openCaches(folder.path, { maxCacheMb: 1 });
    for (let key = 0; key < 50; key += 1) expect(await caches.replies.get(`key ${key}`)).toBe(textOf(key));
    caches.close();
  });

  it('is a miss for another process that knew the text, and it can set the text again', async () => {
    await using folder = await temporaryDirectory();
    const other = await openCaches(folder.path);
    await setMany(other, 50);
    (await openCaches(folder.path, { maxCacheMb: 0.01 })).close();
    expect(await other.replies.get('key 0')).toBeUndefined();
    await other.replies.set('key 0', textOf(0));
    expect(await other.replies.get('key 0')).toBe(textOf(0));
    other.close();
  });

  it('never gives the text of another key, even where the id of a dropped row is used again', async () => {
    await using folder = await temporaryDirectory();
    const caches = await openCaches(folder.path);
    await caches.replies.set('mine', 'my text');
    inspect(folder.path, (database) => {
      database.exec('DELETE FROM replies');
      database.exec("INSERT INTO replies (key, value, created) VALUES ('theirs', 'their text', 0)");
    });
    expect(await caches.replies.get('mine')).toBeUndefined();
    caches.close();
  });
});

describe('the version of a cache file', () => {
  it('is refused when it is newer, with nothing changed', async () => {
    await using folder = await temporaryDirectory();
    await fill(folder.path, 3);
    setVersion(folder.path, 2);
    await expect(openCaches(folder.path)).rejects.toMatchObject({
      code: 'RUN_UNWRITABLE',
      message: expect.stringContaining('is of version 2, but this skillopt writes version 1'),
      hint: expect.stringContaining('Update'),
    });
    setVersion(folder.path, 1);
    const { replies, close } = await openCaches(folder.path);
    expect(await replies.get('key 2')).toBe(textOf(2));
    close();
  });

  it('is written into a file from before there were versions, which keeps its texts', async () => {
    await using folder = await temporaryDirectory();
    await fill(folder.path, 3);
    setVersion(folder.path, 0);
    const { replies, close } = await openCaches(folder.path);
    expect(await replies.get('key 2')).toBe(textOf(2));
    close();
    expect(inspect(folder.path, (database) => database.prepare('PRAGMA user_version').raw().get())).toEqual([1]);
  });
});
