import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildScheduler, chunk, PythonRandom, shuffle } from '../../src/core/contracts/index.ts';
import { LR_SCHEDULER_MODES } from '../../src/core/contracts/schedule.ts';
import { head, strip, toCamelCase, toSnakeCase } from '../../src/core/text/index.ts';

const seed = fc.maxSafeInteger();
const list = fc.array(fc.integer());

describe('a shuffle', () => {
  it('loses nothing and adds nothing', () => {
    fc.assert(
      fc.property(list, seed, (items, number) => {
        const sorted = (numbers: number[]) => [...numbers].sort((a, b) => a - b);
        expect(sorted(shuffle(items, number))).toEqual(sorted(items));
      }),
    );
  });

  it('is a function of the seed, whose sign does not matter, and of the length', () => {
    fc.assert(
      fc.property(list, seed, (items, number) => {
        const places = shuffle([...items.keys()], number);
        expect(shuffle(items, -number)).toEqual(places.map((place) => items[place]));
      }),
    );
  });

  it('is the same for a seed as a bigint, as long as a number can hold it', () => {
    fc.assert(
      fc.property(list, seed, (items, number) => {
        expect(shuffle(items, BigInt(number))).toEqual(shuffle(items, number));
        expect(shuffle(items, -BigInt(number))).toEqual(shuffle(items, number));
      }),
    );
  });

  it('tells seeds of any size apart', () => {
    const places = [...Array(50).keys()];
    fc.assert(
      fc.property(fc.bigInt({ min: 2n ** 53n, max: 2n ** 130n }), (big) => {
        expect(shuffle(places, big)).not.toEqual(shuffle(places, big + 1n));
        expect(shuffle(places, big)).not.toEqual(shuffle(places, big + 2n ** 96n));
      }),
    );
  });
});

describe('draws', () => {
  it('stay below their limit', () => {
    fc.assert(
      fc.property(seed, fc.integer({ min: 1, max: 2 ** 32 - 1 }), (number, limit) => {
        const random = new PythonRandom(number);
        for (let draw = 0; draw < 5; draw++) {
          expect(random.randBelow(limit)).toBeLessThan(limit);
          expect(random.random()).toBeLessThan(1);
        }
      }),
    );
  });
});

describe('chunks', () => {
  it('are full but for the last, and together the list', () => {
    fc.assert(
      fc.property(list, fc.integer({ min: 1, max: 9 }), (items, size) => {
        const chunks = chunk(items, size);
        expect(chunks.flat()).toEqual(items);
        expect(chunks).toHaveLength(Math.ceil(items.length / size));
        expect(chunks.slice(0, -1).filter((one) => !((one) => one.length === size)(one))).toEqual([]);
      }),
    );
  });
});

describe('an edit budget', () => {
  it('never rises, stays between its bounds, and ends at the lower one', () => {
    const bounds = fc.tuple(fc.nat(50), fc.nat(50)).map(([a, b]) => ({ minLr: Math.min(a, b), maxLr: Math.max(a, b) }));
    const mode = fc.constantFrom(...LR_SCHEDULER_MODES.filter((name) => name !== 'autonomous'));
    fc.assert(
      fc.property(bounds, mode, fc.integer({ min: 2, max: 60 }), ({ minLr, maxLr }, name, totalSteps) => {
        const scheduler = buildScheduler({ mode: name, minLr, maxLr, totalSteps });
        const budgets = Array.from({ length: totalSteps }, () => scheduler.step());
        for (const [index, budget] of budgets.entries())
          expect(budget).toBeLessThanOrEqual(budgets[index - 1] ?? maxLr);
        expect(budgets.at(-1)).toBe(name === 'constant' ? maxLr : minLr);
      }),
    );
  });
});

describe('text', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });

  it('is cut to a beginning of as many code points as asked for', () => {
    fc.assert(
      fc.property(text, fc.nat(20), (whole, length) => {
        expect([...head(whole, length)]).toEqual([...whole].slice(0, length));
      }),
    );
  });

  it('is stripped once and for all', () => {
    fc.assert(
      fc.property(text, (whole) => {
        expect(strip(strip(whole))).toBe(strip(whole));
        expect(whole).toContain(strip(whole));
      }),
    );
  });
});

describe('the border codec', () => {
  it('brings camelCase back from snake_case', () => {
    const key = fc.stringMatching(/^[a-z]+([A-Z][a-z]+){0,3}$/);
    const value = fc.letrec((tie) => ({
      tree: fc.oneof(
        fc.integer(),
        fc.string(),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    })).tree;
    fc.assert(
      fc.property(value, (inside) => {
        expect(toCamelCase(toSnakeCase(inside))).toEqual(inside);
      }),
    );
  });
});
