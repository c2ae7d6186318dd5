import { describe, expect, it } from 'vitest';
import { calibrate, noEvidence } from '../../../../src/public/stats.ts';
import { evidenceOf } from './evidence.fixture.ts';

const set = (n: number, scores: (i: number) => number[]) =>
  evidenceOf(Object.fromEntries(Array.from({ length: n }, (_, i) => [`item${i}`, scores(i)])));
/** Every fourth item wavers: within-item variance 1/8. */
const wavering = (n: number) => set(n, (i) => (i % 4 === 0 ? [0, 1] : [i % 2, i % 2]));

describe('calibrate', () => {
  it('gives the noise of one pass: the spread within items over the root of their number', () => {
    const { noiseFloor, rolloutNoise } = calibrate(wavering(40));
    const variance = (10 * 0.5 + 0.25 / 40) / 40;
    expect(rolloutNoise).toBeCloseTo(Math.sqrt(variance), 12);
    expect(noiseFloor).toBeCloseTo(Math.sqrt(variance / 40), 12);
  });

  it('names the flakiest items and no steady ones', () => {
    const { flakiest } = calibrate(evidenceOf({ calm: [1, 1], wild: [0, 1], mild: [0.5, 0.6] }));
    expect(flakiest.map(({ id }) => id)).toEqual(['wild', 'mild']);
    expect(calibrate(wavering(40), { named: 3 }).flakiest).toHaveLength(3);
  });

  it('finds the smallest gain where noise times 2.8 errors meets it', () => {
    const { smallestGain } = calibrate(wavering(200));
    const variance = (50 * 0.5 + 0.25 / 200) / 200 + 0.5 * smallestGain - smallestGain ** 2;
    expect(smallestGain).toBeCloseTo((1.972 + 0.8416) * Math.sqrt(variance / 200), 3); // t(0.975, 199) = 1.972
  });

  it('sees smaller gains with more items, and needs more for 5 points than for 10', () => {
    const gains = [10, 20, 40, 100, 400].map((n) => calibrate(wavering(n)).smallestGain);
    expect([...gains].sort((a, b) => b - a)).toEqual(gains);
    const [five, ten] = calibrate(wavering(40)).needs;
    expect([five!.gain, ten!.gain]).toEqual([0.05, 0.1]);
    expect(five!.items).toBeGreaterThan(ten!.items);
    // 2.8016² · (1/8 + tiny + 0.05 − 0.01) / 0.01
    expect(ten!.items).toBe(Math.ceil((2.80159 ** 2 * (0.12515625 + 0.04)) / 0.01));
  });

  it('knows when no number of repeats is enough', () => {
    expect(calibrate(wavering(20)).needs.map(({ repeats }) => repeats)).toEqual([undefined, undefined]);
    expect(calibrate(wavering(400)).needs[1]!.repeats).toBe(1);
  });

  it('warns of a set too small to learn from, and of one with nothing left to gain', () => {
    expect(calibrate(wavering(8)).warning).toContain('Use more tasks');
    expect(calibrate(wavering(200)).warning).toBeUndefined();
    expect(calibrate(set(40, () => [1, 1])).warning).toContain('0 points are left');
    expect(calibrate(noEvidence)).toMatchObject({ items: 0, score: undefined, smallestGain: 1, noiseFloor: 0 });
    expect(calibrate(noEvidence).warning).toContain('No item has a result');
  });

  it('takes the worst case for a set that was rolled out once, or has one item', () => {
    expect(calibrate(set(40, (i) => [i % 2])).rolloutNoise).toBeLessThanOrEqual(0.5);
    expect(calibrate(evidenceOf({ a: [1, 0] })).smallestGain).toBe(1);
  });
});
