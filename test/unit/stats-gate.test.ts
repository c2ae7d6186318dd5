import { describe, expect, it } from 'vitest';
import {
  type Evidence,
  findFlips,
  gateSettings,
  judgeWave,
  noEvidence,
  patientSettings,
  planWaves,
  raceOrder,
  regressionVeto,
} from '../../src/core/stats/index.ts';
import { evidenceOf } from './stats-evidence.fixture.ts';

const range = (n: number) => Array.from({ length: n }, (_, i) => `item${i}`);
const same = (n: number, scores: readonly number[]): Evidence =>
  evidenceOf(Object.fromEntries(range(n).map((id) => [id, scores])));

describe('planWaves', () => {
  it('ends waves at the planned shares, the last at the whole set', () => {
    expect(planWaves(40)).toEqual([4, 8, 12, 20, 30, 40]);
    expect(planWaves(8)).toEqual([2, 3, 4, 6, 8]);
    expect([planWaves(1), planWaves(2), planWaves(0)]).toEqual([[1], [2], []]);
  });
});

describe('raceOrder', () => {
  it('takes in turns the hardest and the easiest, and what wavers last', () => {
    const seen = evidenceOf({ a: [1, 0], b: [1, 1], c: [0, 0], d: [1, 1, 0], e: [0, 0, 1] });
    expect(raceOrder(['a', 'b', 'c', 'd', 'e'], seen)).toEqual(['c', 'b', 'e', 'd', 'a']);
    expect(raceOrder(['x', 'b'], seen)).toEqual(['x', 'b']);
    expect(raceOrder([], seen)).toEqual([]);
  });
});

describe('judgeWave', () => {
  it('computes z as by hand: shrunk means, weights by steadiness', () => {
    const incumbent = evidenceOf({ a: [1, 1], b: [0, 0] });
    const judged = judgeWave({ incumbent, observed: evidenceOf({ a: [1], b: [1] }), remaining: [] });
    // centre 1/2, prior of 2 rollouts: P = 3/4 and 1/4, both with variance 3/16
    const weight = 1 / (3 / 16 + 0.1);
    const z = (weight * 0.25 + weight * 0.75) / Math.sqrt(2 * weight ** 2 * (3 / 16));
    expect(judged.z).toBeCloseTo(z, 12);
    expect(judged.meanGain).toBeCloseTo(0.5, 12);
    expect(judged.verdict).toBe('accept');
  });

  it('reports gains and regressions apart', () => {
    const incumbent = evidenceOf({ a: [0, 0], b: [1, 1], c: [1, 0], d: [1, 1] });
    const judged = judgeWave({ incumbent, observed: evidenceOf({ a: [1], b: [0], c: [1], d: [1] }), remaining: [] });
    expect(judged.gains).toEqual({ items: ['a', 'c'], sum: 1.5 });
    expect(judged.regressions).toEqual({ items: ['b'], sum: -1 });
  });

  it('rejects as soon as the rest cannot save the candidate', () => {
    const judged = judgeWave({
      incumbent: same(4, [1, 1]),
      observed: evidenceOf({ item0: [0] }),
      remaining: range(4).slice(1),
    });
    expect(judged.verdict).toBe('reject');
    expect(judged.reason).toContain('perfect scores');
  });

  it('goes on while the candidate leads, and accepts only after all items', () => {
    const incumbent = same(40, [0, 1]);
    const observed = same(20, [1]);
    expect(judgeWave({ incumbent, observed, remaining: range(40).slice(20) }).verdict).toBe('continue');
    expect(judgeWave({ incumbent, observed: same(40, [1]), remaining: [] }).verdict).toBe('accept');
  });

  it('says of a small lead that it is inconclusive, and what would decide it', () => {
    const incumbent = same(40, [0, 1]);
    const observed = evidenceOf(Object.fromEntries(range(40).map((id, i) => [id, [i < 21 ? 1 : 0]])));
    const settings = { ...gateSettings(40), acceptThreshold: 0.4 };
    const judged = judgeWave({ incumbent, observed, remaining: [], settings });
    expect(judged.verdict).toBe('inconclusive');
    // z = 1/√10 with 40 rollouts; the threshold plus 0.8416 wants that many times more, squared
    const expected = Math.ceil(40 * (((0.4 + 0.8416212) * Math.sqrt(10)) ** 2 - 1));
    expect(judged.needs).toEqual({ rollouts: expected, power: 0.8 });
    expect(judged.reason).toContain(`≈ ${expected} more rollouts for 80 % power`);
  });

  it('with patient settings asks for a second pass, and decides on both', () => {
    const settings = patientSettings(40);
    const incumbent = same(40, [0, 1]);
    const judge = (observed: Evidence) => judgeWave({ incumbent, observed, remaining: [], settings });
    expect(judge(same(40, [1]))).toMatchObject({ verdict: 'continue', threshold: 0 });
    expect(judge(same(40, [1, 1]))).toMatchObject({ verdict: 'accept', threshold: 0.8 });
    expect(judge(same(40, [1, 0])).verdict).toBe('reject');
    const mixed = evidenceOf(Object.fromEntries(range(40).map((id, i) => [id, i < 2 ? [1, 1] : [1, 0]])));
    expect(judge(mixed).verdict).toBe('inconclusive');
    expect(judge(same(40, [0])).verdict).toBe('reject');
  });

  it('is invalid with more than a fifth missing; at a fifth it judges the rest', () => {
    const incumbent = same(10, [0, 1]);
    const judge = (missing: number) =>
      judgeWave({
        incumbent,
        observed: same(10 - missing, [1]),
        missing: range(10).slice(10 - missing),
        remaining: [],
      });
    expect([judge(2).verdict, judge(3).verdict]).toEqual(['accept', 'invalid']);
  });

  it('has an answer for one item, none, and all missing', () => {
    const one = (before: number[], after: number) =>
      judgeWave({ incumbent: same(1, before), observed: same(1, [after]), remaining: [] }).verdict;
    expect([one([0, 0], 1), one([0, 0], 0), one([1, 1], 1), one([1, 1], 0)]).toEqual([
      'accept',
      'reject',
      'reject',
      'reject',
    ]);
    expect(judgeWave({ incumbent: noEvidence, observed: noEvidence, remaining: [] }).verdict).toBe('invalid');
    const missing = judgeWave({ incumbent: same(3, [1, 0]), observed: noEvidence, missing: range(3), remaining: [] });
    expect(missing.verdict).toBe('invalid');
  });

  it('has an answer when nothing varies, graded or not', () => {
    for (const score of [0, 0.4, 1]) {
      const judged = judgeWave({ incumbent: same(8, [score, score]), observed: same(8, [score]), remaining: [] });
      expect(judged.verdict).toBe('reject');
      expect(judged.meanGain).toBeCloseTo(0, 12);
    }
    const better = judgeWave({ incumbent: same(8, [0.4, 0.4]), observed: same(8, [0.5]), remaining: [] });
    expect(better.verdict).toBe('accept');
  });

  it('judges graded scores by their own noise', () => {
    const steady = evidenceOf(Object.fromEntries(range(20).map((id, i) => [id, [i / 20, i / 20 + 0.02]])));
    const lifted = evidenceOf(Object.fromEntries(range(20).map((id, i) => [id, [i / 20 + 0.04]])));
    const judge = (withinVariance: number) =>
      judgeWave({ incumbent: steady, observed: lifted, remaining: [], withinVariance });
    expect(judge(0.0002).z).toBeGreaterThan(4);
    expect(judge(0.2).z).toBeLessThan(1);
  });

  it('can be recomputed from its record', () => {
    const input = { incumbent: same(8, [0, 1, 1]), observed: same(4, [1]), remaining: range(8).slice(4) };
    const record = JSON.parse(
      JSON.stringify({ ...input, incumbent: [...input.incumbent], observed: [...input.observed] }),
    );
    const read = { ...record, incumbent: new Map(record.incumbent), observed: new Map(record.observed) };
    expect(judgeWave(read)).toEqual(judgeWave(input));
  });

  it('has settings for every size', () => {
    for (const n of [0, 1, 8, 17, 40, 200, 10_000]) {
      const { acceptThreshold, keptRollouts } = gateSettings(n);
      expect(acceptThreshold).toBeGreaterThan(0);
      expect(acceptThreshold).toBeLessThan(1.645);
      expect(keptRollouts).toBeGreaterThan(0);
      expect(keptRollouts).toBeLessThanOrEqual(2);
    }
  });
});

describe('a race with scores that hardly vary', () => {
  const steady = (before: number) => [before, before + 0.002];
  const incumbent = evidenceOf(
    Object.fromEntries(Array.from({ length: 20 }, (_, k) => [`i${k}`, steady(k === 19 ? 0.95 : 0.3)])),
  );
  const ids = [...incumbent.keys()];
  const judge = (observed: Evidence) =>
    judgeWave({ incumbent, observed, remaining: ids.filter((id) => !observed.has(id)), settings: gateSettings(20) });

  it('is not decided by the size of one loss', () => {
    const { verdict } = judge(evidenceOf({ i0: [0.9], i19: [0] }));
    expect(verdict).toBe('continue');
    const all = evidenceOf(Object.fromEntries(ids.map((id) => [id, [id === 'i19' ? 0 : 0.9]])));
    expect(judge(all).verdict).toBe('accept');
  });

  it('is lost by two losses', () => {
    expect(judge(evidenceOf({ i0: [0.1], i19: [0] })).verdict).toBe('reject');
  });
});

describe('the regression veto', () => {
  const incumbent = evidenceOf({ a: [1, 1], b: [1, 0], c: [0, 0], d: [1] });
  const candidate = evidenceOf({ a: [0], b: [0], c: [0], d: [1] });

  it('finds what passed and now fails, and asks for more rollouts of what is protected', () => {
    expect(findFlips({ incumbent, candidate, protectedItems: new Set(['b']) })).toEqual([
      { id: 'a', isProtected: false, rerolls: 3 },
      { id: 'b', isProtected: true, rerolls: 5 },
    ]);
  });

  const flip = (id: string, isProtected = false) => ({ id, isProtected, rerolls: isProtected ? 5 : 3 });
  const observe = (scores: Readonly<Record<string, readonly (number | null)[]>>) =>
    Object.entries(scores).flatMap(([id, list]) => list.map((score) => ({ id, score })));
  const before = observe({ a: [1, 1, 1], b: [1, 1, 1], p: [1, 1, 1, 1, 1] });
  const after = observe({ a: [0, 0, 1], b: [0, 0, 0], p: [0, 1, 0, 0, 1] });

  it('takes two items that stand up to re-rolls, or one that is protected', () => {
    const isVetoed = (...flips: ReturnType<typeof flip>[]) =>
      regressionVeto({ flips, incumbent: before, candidate: after }).isVetoed;
    expect([isVetoed(), isVetoed(flip('a')), isVetoed(flip('a'), flip('b')), isVetoed(flip('p', true))]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it('does not count an item without its re-rolls, or one that the incumbent fails too', () => {
    const flips = [flip('a'), flip('b')];
    expect(regressionVeto({ flips, incumbent: [], candidate: after }).isVetoed).toBe(false);
    const wavering = [...before, { id: 'a', score: 0 }];
    expect(regressionVeto({ flips, incumbent: wavering, candidate: after }).regressions).toEqual(['b']);
  });

  it('counts graded scores as passed or failed', () => {
    const [good, bad] = [observe({ p: [0.9, 0.8, 0.9, 0.7, 0.9] }), observe({ p: [0.4, 0, 0.1, 0.6, 0] })];
    const veto = (candidate: typeof bad) =>
      regressionVeto({ flips: [flip('p', true)], incumbent: good, candidate }).isVetoed;
    expect([veto(bad), veto(good)]).toEqual([true, false]);
  });

  it('is not passed by a protected item without a result', () => {
    const candidateSeen = evidenceOf({ a: [1] });
    const flips = findFlips({ incumbent, candidate: candidateSeen, protectedItems: new Set(['b', 'c']) });
    expect(flips).toEqual([{ id: 'b', isProtected: true, rerolls: 5 }]);
    const always = observe({ b: [1, 1, 1, 1, 1] });
    const veto = (candidate: typeof always) => regressionVeto({ flips, incumbent: always, candidate }).isVetoed;
    expect([veto([]), veto(always)]).toEqual([true, false]);
  });

  it('is not triggered by chance: counted out for every pass rate', () => {
    const rates = Array.from({ length: 99 }, (_, i) => (i + 1) / 100);
    const confirmed = (p: number, k: number) => {
      let chance = 0;
      for (let bits = 0; bits < 2 ** (2 * k); bits++) {
        const draws = Array.from({ length: 2 * k }, (_, i) => (bits >> i) & 1);
        const passes = draws.slice(0, k).every((bit) => bit === 1);
        const fails = draws.slice(k).filter((bit) => bit === 0).length > k / 2;
        if (passes && fails) chance += draws.reduce((product: number, bit) => product * (bit ? p : 1 - p), 1);
      }
      return chance;
    };
    expect(Math.max(...rates.map((p) => confirmed(p, 3)))).toBeLessThan(0.08);
    expect(Math.max(...rates.map((p) => confirmed(p, 5)))).toBeLessThan(0.06);
  });
});
