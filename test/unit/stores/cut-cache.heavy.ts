import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCaches } from '../../../src/stores/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Lengths as close as this are all alike: SQLite reads pages of 4096 bytes, and rows of a hundred. */
const EVERY_BYTES = 61;
const PAGE = 4096;

async function openAndUse(directory: string) {
  const warnings: string[] = [];
  const caches = await openCaches(directory, { onWarning: (warning) => warnings.push(warning) });
  const texts: (string | undefined)[] = [];
  for (let key = 0; key < 30; key++)
    texts.push(await caches.replies.get(`k${key}`), await caches.rollouts.get(`r${key}`));
  const kept = await caches.replies.get('new');
  await caches.replies.set('new', 'new');
  caches.close();
  return { warnings, kept, texts: texts.filter((text) => text !== undefined) };
}

it('a cache that was cut off at any length is used as far as it can be read, or set aside', async () => {
  using folder = tempFolder({});
  const whole = join(folder.path, 'whole');
  const caches = await openCaches(whole);
  for (let key = 0; key < 30; key++) {
    await caches.replies.set(`k${key}`, `reply ${key} `.repeat(20));
    await caches.rollouts.set(`r${key}`, `result ${key} `.repeat(20));
  }
  caches.close();
  const bytes = readFileSync(join(whole, 'cache', 'cache.db'));
  const steps = Array.from({ length: Math.ceil(bytes.length / EVERY_BYTES) }, (_, at) => at * EVERY_BYTES);
  const edges = Array.from({ length: bytes.length / PAGE }, (_, at) => [
    at * PAGE - 1,
    at * PAGE,
    at * PAGE + 1,
  ]).flat();
  const problems: unknown[] = [];
  for (const length of [...steps, ...edges].filter((one) => one >= 0)) {
    const cut = join(folder.path, 'cut');
    rmSync(cut, { recursive: true, force: true });
    mkdirSync(join(cut, 'cache'), { recursive: true });
    writeFileSync(join(cut, 'cache', 'cache.db'), bytes.subarray(0, length));
    try {
      const { texts } = await openAndUse(cut);
      if (!texts.every((text) => /^(reply|result) (\d+) /.test(text))) problems.push({ length, texts });
      const { kept } = await openAndUse(cut);
      if (kept !== 'new') problems.push({ length, kept });
    } catch (error) {
      problems.push({ length, error: String(error) });
    }
  }
  expect(problems).toEqual([]);
});
