import { expect, it } from 'vitest';
import { killWriters } from './shared-cache.fixture.ts';

it('a cache that two processes share keeps all that was safe, whenever one of them is killed', async () => {
  const outcome = await killWriters({ kills: 3, seed: 1, maxCacheMb: 1024 });
  expect(outcome).toMatchObject({ kills: 3, wrong: 0, lost: 0, damaged: 0 });
  expect(outcome.read).toBeGreaterThan(0);
});

it('a cache that two processes share never gives a wrong text while both drop old ones and are killed', async () => {
  const outcome = await killWriters({ kills: 3, seed: 2, maxCacheMb: 0.5 });
  expect(outcome).toMatchObject({ kills: 3, wrong: 0, damaged: 0 });
  expect(outcome.read).toBeGreaterThan(0);
  expect(outcome.lost, 'old texts were dropped').toBeGreaterThan(0);
});
