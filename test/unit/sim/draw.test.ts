import { describe, expect, it } from 'vitest';
import { createDice, createDraw } from '../../../src/sim/draw.ts';
import { expectEvery } from '../../support/expect-every.ts';

const numbers = (count: number, make: (index: number) => number) =>
  Array.from({ length: count }, (_, index) => make(index));
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('draw', () => {
  it('gives the same number for the same seed, texts and label', () => {
    expect(createDraw(7, ['a', 'b'])('slip')).toBe(createDraw(7, ['a', 'b'])('slip'));
  });

  it('changes with the seed, with any text, with where a text ends, and with the label', () => {
    const all = [
      createDraw(7, ['ab', 'c'])('slip'),
      createDraw(8, ['ab', 'c'])('slip'),
      createDraw(7, ['ab', 'd'])('slip'),
      createDraw(7, ['a', 'bc'])('slip'),
      createDraw(7, ['abc'])('slip'),
      createDraw(7, ['ab', 'c'])('other'),
      createDraw(7.5, ['ab', 'c'])('slip'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it.each([
    ['seeds', (index: number) => createDraw(index, ['text'])('slip')],
    ['texts', (index: number) => createDraw(7, [`a longer text, number ${index}`])('slip')],
    ['labels', (index: number) => createDraw(7, ['text'])(`label ${index}`)],
  ])('is uniform over %s that differ little', (_, make) => {
    const values = numbers(20_000, make);
    const buckets = numbers(20, (bucket) => values.filter((value) => Math.floor(value * 20) === bucket).length);
    expectEvery(values, (value) => value >= 0 && value < 1);
    expect(new Set(values).size).toBe(values.length);
    expect(mean(buckets.map((size) => (size - 1000) ** 2 / 1000)) * 20).toBeLessThan(50); // chi-squared, 19 degrees
    expect(Math.abs(mean(values.slice(1).map((value, index) => (value - 0.5) * (values[index]! - 0.5))))).toBeLessThan(
      0.003,
    );
  });

  it('throws dice one after the other, the same way every time', () => {
    const throwTen = () => {
      const dice = createDice(createDraw(7, ['dice']));
      return numbers(10, () => dice(6));
    };
    expect(throwTen()).toEqual(throwTen());
    expect(new Set(throwTen()).size).toBeGreaterThan(2);
    expectEvery(throwTen(), (value) => value >= 0 && value < 6);
  });
});
