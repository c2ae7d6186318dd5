import { describe, expect, it } from 'vitest';
import { PythonRandom } from '../../src/core/random.ts';
import { estimateGain, estimateScore, finalReport, noEvidence } from '../../src/core/stats/index.ts';
import { evidenceOf } from './stats-evidence.fixture.ts';

describe('the final report', () => {
  it('gives the score of the fresh rollouts with the interval of the formula', () => {
    const fresh = evidenceOf({ a: [1, 1], b: [1, 0], c: [0, 0], d: [1, 1] });
    // squares within items 1/2 (item b) + 1/4, over 4 free ones + 1; two rollouts each; t(0.95, 4) = 2.132
    const half = 2.132 * Math.sqrt(0.15 / 8);
    const { value, interval } = estimateScore(fresh, 0.9)!;
    expect(value).toBe(0.625);
    expect(interval.low).toBeCloseTo(0.625 - half, 3);
    expect(interval.high).toBeCloseTo(0.625 + half, 3);
  });

  it('gives the paired gain with the interval of the formula', () => {
    const seed = evidenceOf({ a: [0, 0], b: [1, 0], c: [0, 0], d: [1, 1], e: [0, 0], gone: [1] });
    const fresh = evidenceOf({ a: [1, 1], b: [1, 1], c: [1, 0], d: [1, 1], e: [1, 1] });
    // differences 1, 1/2, 1/2, 0, 1: mean 0.6, squares 0.7 + 1/4; t(0.975, 4) = 2.776
    const { value, interval } = estimateGain(fresh, seed)!;
    expect(value).toBeCloseTo(0.6, 12);
    expect(interval.low).toBeCloseTo(0.6 - (2.776 * Math.sqrt(0.95)) / 5, 3);
    expect(finalReport({ fresh, seed }).isClaimed).toBe(true);
    expect(finalReport({ fresh, seed, confidence: 0.99 }).isClaimed).toBe(false);
  });

  it('claims nothing for the same rollouts, for one item, and for none', () => {
    const seed = evidenceOf({ a: [0, 0] });
    expect(finalReport({ fresh: seed, seed }).isClaimed).toBe(false);
    const one = finalReport({ fresh: evidenceOf({ a: [1, 1] }), seed });
    expect(one).toMatchObject({ isClaimed: false, gain: { value: 1, interval: { low: -1, high: 1 } } });
    expect(finalReport({ fresh: noEvidence, seed })).toMatchObject({
      score: undefined,
      gain: undefined,
      isClaimed: false,
    });
  });

  it('has an interval with a width where nothing varied, within 0 and 1', () => {
    const { interval } = estimateScore(evidenceOf({ a: [1, 1], b: [1, 1], c: [1, 1] }))!;
    expect(interval.low).toBeLessThan(0.9);
    expect(interval.high).toBe(1);
  });

  it('covers the truth about as often as it says, and claims a gain of nothing hardly ever', () => {
    const dice = new PythonRandom(20);
    const runs = 1500;
    let [covered, claimed] = [0, 0];
    for (let run = 0; run < runs; run++) {
      const rates = Array.from({ length: 30 }, () => dice.random());
      const pass = () =>
        evidenceOf(Object.fromEntries(rates.map((p, i) => [`${i}x`, [0, 0].map(() => (dice.random() < p ? 1 : 0))])));
      const truth = rates.reduce((sum, p) => sum + p, 0) / rates.length;
      const { score, isClaimed } = finalReport({ fresh: pass(), seed: pass() });
      if (score!.interval.low <= truth && truth <= score!.interval.high) covered++;
      if (isClaimed) claimed++;
    }
    expect(covered / runs).toBeGreaterThan(0.93);
    expect(covered / runs).toBeLessThan(0.985);
    expect(claimed / runs).toBeLessThan(0.04); // two-sided 95 %: 2.5 % above
  });
});
