import { expect, it } from 'vitest';
import { startModels, trainWithKills, WORKERS } from './killed-run.ts';

it('ends as if nothing had happened after kill -9 at random moments, and repeats at most the calls in flight', async () => {
  await using server = await startModels();
  const undisturbed = await trainWithKills(server, 0, 0);
  for (const seed of [1, 2]) {
    const { calls, kills, ...outcome } = await trainWithKills(server, 4, seed);
    const { calls: needed, kills: _none, ...expected } = undisturbed;
    expect(kills).toBeGreaterThan(0);
    expect(outcome).toEqual(expected);
    expect(calls - needed).toBeLessThanOrEqual(WORKERS * kills);
  }
}, 120_000);
