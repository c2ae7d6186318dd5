import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextError, TOTAL_ERROR } from '../../../../src/core/stats/index.ts';

describe('nextError', () => {
  const nights = (count: number, proven: readonly number[] = []) =>
    Array.from({ length: count }, (_, night) => ({ isProven: proven.includes(night) }));

  it('1: is a twentieth on the first night', () => {
    expect(nextError([])).toBeCloseTo(0.05, 12);
    expect(nextError([{ isProven: false }])).toBeCloseTo(0.1 / 6, 12);
  });

  it('1: sums to no more than the total over all nights on which nothing was proven', () => {
    // The error of a night depends on how many came before: long lists differ from short ones in their length alone.
    const unproven = nights(10_000);
    const length = fc.integer({ min: 1, max: 10_000 });
    const places = fc.uniqueArray(length, { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(places, (some) => {
        const sum = some.reduce((total, night) => total + nextError(unproven.slice(0, night - 1)), 0);
        expect(sum).toBeLessThanOrEqual(TOTAL_ERROR + 1e-12);
      }),
      { numRuns: 30 },
    );
    const all = Array.from({ length: 2000 }, (_, night) => nextError(unproven.slice(0, night)));
    expect(all.reduce((sum, error) => sum + error, 0)).toBeLessThanOrEqual(TOTAL_ERROR);
    expect(nextError(unproven)).toBeCloseTo(TOTAL_ERROR / (10_001 * 10_002), 15);
  });

  it('1: rises again after a proof', () => {
    expect(nextError(nights(10, [9]))).toBeGreaterThan(nextError(nights(9)));
    expect(nextError(nights(10, [9]))).toBeCloseTo(0.05, 2);
    expect(nextError(nights(12, [9]))).toBeGreaterThan(nextError(nights(12)));
  });

  it('1: is never above half the total, whatever was proven, and never nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ isProven: fc.boolean() }), { maxLength: 200 }), (history) => {
        const error = nextError(history);
        expect(error).toBeLessThanOrEqual(TOTAL_ERROR / 2);
        expect(error).toBeGreaterThan(0);
      }),
    );
  });
});
