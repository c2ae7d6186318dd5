import { execFile } from 'node:child_process';
import { mkdir, open, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { cacheStats, openCaches } from '../../../src/stores/index.ts';
import { programArgs } from '../../support/compiled.ts';
import { startChild, temporaryDirectory } from './run-directory.fixture.ts';

const cacheWriter = new URL('./text-cache.child.ts', import.meta.url);

async function temporaryCaches() {
  const folder = await temporaryDirectory();
  const caches = await openCaches(folder.path);
  const dispose = async () => {
    caches.close();
    await folder[Symbol.asyncDispose]();
  };
  return { ...caches, path: folder.path, [Symbol.asyncDispose]: dispose };
}

async function fill(directory: string, count: number) {
  const { replies, close } = await openCaches(directory);
  for (let key = 0; key < count; key += 1) await replies.set(`key ${key}`, 'value '.repeat(100));
  close();
}

describe('openCaches', () => {
  it('gives back every text exactly, whatever is in it', async () => {
    await using caches = await temporaryCaches();
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('\0', '\u0001', '"', 'é', '\ud83d', '\ude00') }),
    );
    let count = 0;
    const property = fc.asyncProperty(fc.array(fc.tuple(text, text), { minLength: 1 }), async (pairs) => {
      const entries = pairs.map(([key, value]) => [`${key}${count++}`, value] as const);
      await Promise.all(entries.map(([key, value]) => caches.replies.set(key, value)));
      for (const [key, value] of entries) expect(await caches.replies.get(key)).toBe(value);
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('finds each of many texts that are set at once in both caches, now and when it is opened again', async () => {
    await using caches = await temporaryCaches();
    const keys = Array.from({ length: 21 }, (_, number) => `key ${number}`);
    const saving = keys.map((key) => caches.rollouts.set(key, `rollout of ${key}`));
    await Promise.all(keys.map((key) => caches.replies.set(key, `reply to ${key}`)));
    caches.rollouts.flush();
    await Promise.all(saving);
    const later = await openCaches(caches.path);
    for (const { replies, rollouts } of [caches, later])
      for (const key of keys)
        expect([await replies.get(key), await rollouts.get(key)]).toEqual([`reply to ${key}`, `rollout of ${key}`]);
    later.close();
  });

  it('tells keys apart that differ only after a NUL', async () => {
    await using caches = await temporaryCaches();
    await caches.replies.set('key\0a', 'a');
    expect(await caches.replies.get('key\0b')).toBeUndefined();
    expect(await caches.replies.get('key')).toBeUndefined();
  });

  it('lets the first of two writers win for all who open the caches later', async () => {
    await using first = await temporaryCaches();
    const second = await openCaches(first.path);
    await first.replies.set('key', 'first');
    await second.replies.set('key', 'second');
    second.close();
    const later = await openCaches(first.path);
    await later.replies.set('key', 'third');
    expect(await later.replies.get('key')).toBe('first');
    later.close();
  });

  it('never finds the text of another key after a commit that failed', async () => {
    await using caches = await temporaryCaches();
    const failed = [caches.replies.set('good', 'good'), caches.replies.set('bad', 42 as never)];
    expect((await Promise.allSettled(failed)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await caches.replies.set('next', 'next');
    expect(await caches.replies.get('good')).toBeUndefined();
    expect(await caches.replies.get('next')).toBe('next');
  });

  it('leaves everything in one file when it is closed', async () => {
    await using folder = await temporaryDirectory();
    await fill(folder.path, 10);
    expect((await stat(join(folder.path, 'cache', 'cache.db-wal'))).size).toBe(0);
  });

  it('has everything that was set safe as soon as it is flushed, for others to find', async () => {
    await using caches = await temporaryCaches();
    const isSet = Promise.all([caches.rollouts.set('key', 'flushed'), caches.replies.set('key', 'a reply')]);
    caches.rollouts.flush();
    const other = await openCaches(caches.path);
    expect(await other.rollouts.get('key')).toBe('flushed');
    expect(await other.replies.get('key')).toBe('a reply');
    other.close();
    await isSet;
  });

  it('closes only after what is being set is safe', async () => {
    await using folder = await temporaryDirectory();
    const caches = await openCaches(folder.path);
    const isSet = caches.replies.set('key', 'value');
    caches.close();
    await isSet;
    const again = await openCaches(folder.path);
    expect(await again.replies.get('key')).toBe('value');
    again.close();
  });

  it('cannot be written once it is closed, when the run may belong to another', async () => {
    await using folder = await temporaryDirectory();
    const caches = await openCaches(folder.path);
    caches.close();
    await expect(caches.replies.set('key', 'late')).rejects.toThrow();
  });

  it('keeps its log short, however much is set', async () => {
    await using caches = await temporaryCaches();
    const logSizes: number[] = [];
    for (let key = 0; key < 400; key += 1) {
      await caches.replies.set(`key ${key}`, `${key}`.padEnd(50_000, ' trajectory'));
      await caches.replies.get(`key ${key % 100}`);
      if (key % 20 === 0) logSizes.push((await stat(join(caches.path, 'cache', 'cache.db-wal'))).size);
    }
    expect(Math.max(...logSizes)).toBeLessThan(6_000_000);
  });
});

describe('a damaged cache file', () => {
  it('is set aside and a new one begun', async () => {
    await using folder = await temporaryDirectory();
    await mkdir(join(folder.path, 'cache'));
    for (const text of ['not a database. '.repeat(100), 'nor this one. '.repeat(100)]) {
      await writeFile(join(folder.path, 'cache', 'cache.db'), text);
      await fill(folder.path, 3);
    }
    const files = await readdir(join(folder.path, 'cache'));
    expect(files).toEqual(expect.arrayContaining(['cache.db', 'cache.db.corrupt-1', 'cache.db.corrupt-2']));
    expect(await readFile(join(folder.path, 'cache', 'cache.db.corrupt-2'), 'utf8')).toMatch(/^nor this one/);
  });

  it('is set aside with its log, which is not for the new one', async () => {
    await using folder = await temporaryDirectory();
    await mkdir(join(folder.path, 'cache'));
    await writeFile(join(folder.path, 'cache', 'cache.db'), 'not a database. '.repeat(100));
    await writeFile(join(folder.path, 'cache', 'cache.db-wal'), 'a log');
    await fill(folder.path, 3);
    expect(await readFile(join(folder.path, 'cache', 'cache.db.corrupt-1-wal'), 'utf8')).toBe('a log');
  });

  it('costs its texts and not the run when the damage shows late', async () => {
    await using folder = await temporaryDirectory();
    await fill(folder.path, 500);
    await overwritePages(join(folder.path, 'cache', 'cache.db'));
    expect(await cacheStats(folder.path)).toMatchObject({ isDamaged: true });
    const warnings: string[] = [];
    const { replies, close } = await openCaches(folder.path, { onWarning: (message) => warnings.push(message) });
    expect(await replies.get('key 1')).toBeUndefined();
    expect(warnings).toEqual([
      expect.stringMatching(/the cache was damaged and is now .*cache\.db\.corrupt-1; what it/),
    ]);
    await replies.set('key 1', 'paid again');
    expect(await replies.get('key 1')).toBe('paid again');
    close();
    expect(await readdir(join(folder.path, 'cache'))).toContain('cache.db.corrupt-1');
  });
});

describe('a cache file with one bit flipped', () => {
  const textOf = (key: number) => `text ${key} `.repeat(1 + key);

  /** The driver must not be loaded before a run is opened. */
  type Report = { isDriverLoaded: boolean };
  type Outcome = { bit: number; texts: (string | null)[]; news: string[]; error?: string };

  async function flip(bits: readonly number[]): Promise<[Report, ...Outcome[]]> {
    await using folder = await temporaryDirectory();
    const { rollouts, close } = await openCaches(join(folder.path, 'whole'));
    const keys = Array.from({ length: 60 }, (_, key) => key);
    const isSet = Promise.all(keys.map((key) => rollouts.set(`key ${key}`, textOf(key))));
    rollouts.flush();
    await isSet;
    close();
    const whole = join(folder.path, 'whole', 'cache', 'cache.db');
    const child = new URL('./damaged-cache.child.ts', import.meta.url);
    const args = [...programArgs(child), whole, join(folder.path, 'damaged'), ...bits.map(String)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 });
    const lines = stdout.trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line)) as [Report, ...Outcome[]];
  }

  const expectSound = ({ bit, texts, news, error }: Outcome) => {
    if (error !== undefined) return expect(error, `bit ${bit}`).toMatch(/is of version \d+, but this skillopt writes/);
    const wrong = texts.filter((text, key) => text !== null && text !== textOf(key));
    expect(wrong, `bit ${bit}`).toEqual([]);
    expect(news, `bit ${bit}`).toEqual([texts[30] ?? 'again', 'new']);
  };

  it('gives back right texts or none, takes new ones, and never ends the process', async () => {
    const anywhere = Array.from({ length: 60 }, (_, place) => place * 4799 + 7);
    const inSchema = Array.from({ length: 40 }, (_, place) => (4095 - 11 * place) * 8 + 7);
    const [report, ...outcomes] = await flip([...anywhere, ...inSchema]);
    expect(report.isDriverLoaded).toBe(false);
    expect(outcomes).toHaveLength(anywhere.length + inSchema.length);
    outcomes.forEach(expectSound);
    expect(
      outcomes.some(({ texts }) => texts?.includes(null)),
      'some text was damaged',
    ).toBe(true);
  });
});

it('a cache of an earlier version, whose rows have no sums, keeps its texts', async () => {
  await using folder = await temporaryDirectory();
  await mkdir(join(folder.path, 'cache'));
  const database = new Database(join(folder.path, 'cache', 'cache.db'));
  for (const name of ['replies', 'rollouts']) {
    database.exec(
      `CREATE TABLE ${name} (id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, created INTEGER NOT NULL)`,
    );
    database.exec(`INSERT INTO ${name} (key, value, created) VALUES ('key', 'old ${name}', 0)`);
  }
  database.close();
  for (const _time of ['first', 'second']) {
    const { replies, rollouts, close } = await openCaches(folder.path);
    expect([await replies.get('key'), await rollouts.get('key')]).toEqual(['old replies', 'old rollouts']);
    await replies.set('new', 'new');
    expect(await replies.get('new')).toBe('new');
    close();
  }
});

it.each(['cache', 'cache/cache.db', 'cache/cache.db-wal'])(
  'a link in the place of %s is not followed',
  async (name) => {
    await using folder = await temporaryDirectory();
    const [run, elsewhere] = [join(folder.path, 'run'), join(folder.path, 'elsewhere')];
    await mkdir(join(run, dirname(name)), { recursive: true });
    await symlink(elsewhere, join(run, name));
    await expect(openCaches(run)).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
    await expect(stat(elsewhere)).rejects.toMatchObject({ code: 'ENOENT' });
  },
);

/** Leaves the first page, so that it still looks like a database. */
async function overwritePages(path: string) {
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  await file.write(Buffer.alloc(size - 4096, 0x55), 0, size - 4096, 4096);
  await file.close();
}

it('a cache that two killed processes wrote at once has every entry that was safe, and no broken one', async () => {
  await using folder = await temporaryDirectory();
  const writers = ['one', 'two'];
  const children = writers.map((writer) => startChild(cacheWriter, folder.path, writer));
  const safe = await Promise.all(children.map((child) => lastOf(child, 50)));
  await Promise.all(children.map((child) => child.kill()));

  const { replies, close } = await openCaches(folder.path);
  for (let key = 0; key < 2 * Math.max(...safe); key += 1) {
    const value = await replies.get(`key ${key}`);
    const expected = writers.map((writer) => `${key} by ${writer}, `.repeat(500));
    if (key <= Math.max(...safe)) expect(expected).toContain(value);
    else expect([...expected, undefined]).toContain(value);
  }
  close();
  const database = new Database(join(folder.path, 'cache', 'cache.db'));
  expect(database.pragma('integrity_check')).toMatchObject([{ integrity_check: 'ok' }]);
  database.close();
});

async function lastOf(child: ReturnType<typeof startChild>, lines: number): Promise<number> {
  let last = '';
  for (let line = 0; line < lines; line += 1) last = (await child.nextLine()) ?? '';
  return Number(last);
}
