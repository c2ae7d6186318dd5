import { describe, expect, it } from 'vitest';
import { PythonRandom } from '../../../../src/core/contracts/index.ts';
import { estimateGain, estimateScore, finalReport, noEvidence } from '../../../../src/public/stats.ts';
import { evidenceOf } from './evidence.fixture.ts';

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
    expect(finalReport({ fresh: seed, seed })).toMatchObject({ isClaimed: false, isSeedBetter: false });
    const one = finalReport({ fresh: evidenceOf({ a: [1, 1] }), seed });
    expect(one).toMatchObject({ isClaimed: false, gain: { value: 1, interval: { low: -1, high: 1 } } });
    expect(finalReport({ fresh: noEvidence, seed })).toMatchObject({
      score: undefined,
      gain: undefined,
      isClaimed: false,
    });
  });

  it('says that the seed skill is better, and reports the score of what ships', () => {
    const seed = evidenceOf({ a: [1, 1], b: [1, 1], c: [1, 0], d: [1, 1] });
    const fresh = evidenceOf({ a: [1, 1], b: [0, 0], c: [1, 0], d: [0, 1] });
    const report = finalReport({ fresh, seed });
    expect(report).toMatchObject({ isSeedBetter: true, isClaimed: false, gain: { value: -0.375 } });
    expect(report.score!.value).toBeGreaterThan(0.75);
    expect(report.score!.value).toBeLessThanOrEqual(0.875);
    const isSeed = finalReport({ fresh, seed, isSeed: true });
    expect(isSeed).toMatchObject({ isSeedBetter: false, isClaimed: false, gain: undefined, score: { value: 0.5 } });
  });

  it('takes off the score what a close choice flatters it by, and nothing where the choice was clear', () => {
    const items = (passes: number) =>
      evidenceOf(Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`${i}x`, [i < passes ? 1 : 0, i % 2]])));
    const reported = (fresh: number, seed: number) =>
      finalReport({ fresh: items(fresh), seed: items(seed) }).score!.value;
    const measured = (passes: number) => estimateScore(items(passes))!.value;
    expect(reported(21, 20)).toBeLessThan(measured(21) - 0.01);
    expect(reported(38, 4)).toBeCloseTo(measured(38), 3);
    expect(reported(20, 21), 'the seed ships').toBeCloseTo(reported(21, 20), 12);
  });

  it('is right in the mean, whichever of two equal skills measured better', () => {
    const dice = new PythonRandom(7);
    const runs = 1200;
    let [reported, measured, truth] = [0, 0, 0];
    for (let run = 0; run < runs; run++) {
      const rates = Array.from({ length: 30 }, () => dice.random());
      const pass = () =>
        evidenceOf(Object.fromEntries(rates.map((p, i) => [`${i}x`, [0, 0].map(() => (dice.random() < p ? 1 : 0))])));
      const [fresh, seed] = [pass(), pass()];
      reported += finalReport({ fresh, seed }).score!.value / runs;
      measured += Math.max(estimateScore(fresh)!.value, estimateScore(seed)!.value) / runs;
      truth += rates.reduce((sum, p) => sum + p, 0) / rates.length / runs;
    }
    expect(measured - truth).toBeGreaterThan(0.02);
    expect(Math.abs(reported - truth)).toBeLessThan((measured - truth) / 2);
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
