import { describe, expect, it, vi } from 'vitest';
import { agentWorld, enoughFor, nightWorld, spendWithKills, trainerWorld } from './costs-after-kills.ts';

vi.setConfig({ testTimeout: 400_000 });

const KILLS = 7;
const worlds = { trainer: trainerWorld, agent: agentWorld, night: nightWorld };

describe.each(Object.entries(worlds))('what a killed %s has cost', (_, open) => {
  it('is what the provider has answered, and the calls in flight may have been', async () => {
    await using world = await open();
    const { code, kills, faults } = await spendWithKills(world, { kills: KILLS, seed: 1 });
    expect({ code, kills, faults }).toEqual({ code: 0, kills: KILLS, faults: [] });
  });

  it('never passes a limit, and no limit that pays for the calls in flight is used up by kills', async () => {
    await using undisturbed = await open();
    const whole = await spendWithKills(undisturbed, { kills: 0, seed: 0 });
    await using world = await open();
    const limits = enoughFor(whole, world, KILLS);
    const { code, kills, faults } = await spendWithKills(world, { kills: KILLS, seed: 2, limits });
    expect({ code, kills, faults }).toEqual({ code: 0, kills: KILLS, faults: [] });
  });
});

it('the usual limit of a night is not used up by kills: it ends with its work done', async () => {
  await using world = await nightWorld();
  const { code, kills, faults, told } = await spendWithKills(world, { kills: 24, seed: 4, pace: 4 });
  expect({ code, kills, faults }).toEqual({ code: 0, kills: 24, faults: [] });
  expect(told.tokens + told.mayHaveBeen!.tokens).toBeLessThan(400_000);
});

it('a limit that does not pay for the run is used to its end, whatever was killed', async () => {
  await using world = await trainerWorld();
  const limits = { calls: 90, tokens: 10_000_000 };
  const { code, faults, calls, told } = await spendWithKills(world, { kills: KILLS, seed: 3, limits });
  expect({ code, faults }).toEqual({ code: 3, faults: [] });
  expect(calls).toBeLessThanOrEqual(90);
  expect(told.calls + (told.mayHaveBeen?.calls ?? 0)).toBeGreaterThanOrEqual(90 - 32 - 4); // 32 are kept for the end
});
