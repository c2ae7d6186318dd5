import { describe, expect, it } from 'vitest';
import { countFirstNights } from '../../../../bench/quality/nights/first-nights.ts';
import { playMonth } from '../../../../bench/quality/nights/month.ts';
import { oneChangePerson, RULE } from '../../../../bench/quality/nights/one-change.ts';

const NIGHTS = 80;

describe('a world with one change', () => {
  it.each([
    ['none', 0, 0],
    ['spread', 0.17, 0.17],
    ['third', 0.17, 0.18], // five of fourteen tasks rise by half
  ] as const)('%s is worth between %d and %d', (effect, low, high) => {
    const person = oneChangePerson({ seed: 1, effect });
    const gain = person.trueScore('', RULE) - person.trueScore('', '');
    expect(gain).toBeGreaterThanOrEqual(low - 1e-9);
    expect(gain).toBeLessThanOrEqual(high + 1e-2);
    expect(person.tasksOf(1).filter(({ split }) => split === 'val')).toHaveLength(14);
  });

  it('shows what one sample and a higher mean let through', async () => {
    const nights = { runner: 'reference', from: 1, seeds: NIGHTS } as const;
    const skill = await countFirstNights({ ...nights, effect: 'none', documents: ['skill'] });
    const both = await countFirstNights({ ...nights, effect: 'none', documents: ['skill', 'memory'] });
    expect(skill.staged / NIGHTS).toBeGreaterThan(0.33);
    expect(skill.staged / NIGHTS).toBeLessThan(0.67);
    expect(both.staged / NIGHTS).toBeGreaterThan(0.5);
    expect(both.staged / NIGHTS).toBeLessThan(0.83);
    const true17 = await countFirstNights({ ...nights, effect: 'spread', documents: ['skill', 'memory'] });
    expect(true17.right).toBeGreaterThan(0.9 * NIGHTS);
  });
});

describe('a month', () => {
  it('adopts in the morning what was staged at night, and compares reports with the truth', async () => {
    const month = await playMonth({ runner: 'reference', usefulness: 'learnable', seed: 1, nights: 10 });
    expect(month.share).toBeGreaterThan(0);
    expect(month.stagings).toBe(month.errors.length);
    expect(await playMonth({ runner: 'reference', usefulness: 'learnable', seed: 1, nights: 10 })).toEqual(month);
    const idle = await playMonth({ runner: 'reference', usefulness: 'nothing-helps', seed: 1, nights: 10 });
    expect(idle.share).toBe(0);
  });
});
