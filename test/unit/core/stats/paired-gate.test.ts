import { describe, expect, it } from 'vitest';
import {
  addOwn,
  barFor,
  believedScore,
  disputedItems,
  type Evidence,
  estimateNoise,
  findFlips,
  inherit,
  judgeWave,
  knownOf,
  noEvidence,
  noKnowledge,
  planWaves,
  raceOrder,
  raceSettings,
  regressionVeto,
  settingsFor,
  unmetItems,
  weigh,
} from '../../../../src/public/stats.ts';
import { evidenceOf, knowing } from './evidence.fixture.ts';

const range = (n: number) => Array.from({ length: n }, (_, i) => `item${i}`);
const each = (n: number, scores: (i: number) => readonly number[]): Evidence =>
  evidenceOf(Object.fromEntries(range(n).map((id, i) => [id, scores(i)])));
const same = (n: number, scores: readonly number[]): Evidence => each(n, () => scores);
/** Every second item passes, and always did. */
const steady = (n: number): Evidence => each(n, (i) => [i % 2, i % 2]);

describe('planWaves', () => {
  it('has a first look at two in five, and at two at least; the second has the rest', () => {
    expect(planWaves(40)).toEqual([16, 40]);
    expect(planWaves(8)).toEqual([4, 8]);
    expect([planWaves(1), planWaves(2), planWaves(0)]).toEqual([[1], [2], []]);
    expect(planWaves(10, { firstWave: 1 })).toEqual([10]);
  });
});

describe('raceOrder', () => {
  it('takes in turns the hardest and the easiest, and what wavers last', () => {
    const rates: Record<string, number> = { a: 0.5, b: 1, c: 0, d: 2 / 3, e: 1 / 3 };
    const rateOf = (id: string) => rates[id] ?? 0.5;
    expect(raceOrder(['a', 'b', 'c', 'd', 'e'], rateOf)).toEqual(['c', 'b', 'e', 'd', 'a']);
    expect(raceOrder(['x', 'b'], rateOf)).toEqual(['x', 'b']);
    expect(raceOrder([], rateOf)).toEqual([]);
  });
});

describe('settings', () => {
  it('are there for every size, and ask the same of every rollout of a large set', () => {
    for (const n of [0, 1, 8, 17, 40, 200, 10_000]) {
      const { price, firstWave, hasSecondPass } = settingsFor(knowing(steady(n)), range(n), 40);
      expect(price).toBeGreaterThanOrEqual(0);
      expect(price).toBeLessThan(0.1);
      expect([firstWave, hasSecondPass]).toEqual([0.4, true]);
    }
  });

  it('have a price that rises with what a candidate may gain, and falls with what the next one costs', () => {
    const price = (batchSize: number, upside: number) => raceSettings({ n: 40, batchSize, upside }).price;
    expect(price(40, 2)).toBeCloseTo(2 * price(40, 1), 12);
    expect(price(80, 1)).toBeLessThan(price(40, 1));
  });

  it('have a bar of a share, on small sets of a part of an item, and of less where scores hardly vary', () => {
    const bar = (n: number) => barFor({ kind: 'binary', within: 0.05 }, n).lead;
    expect([bar(1), bar(12), bar(20), bar(40), bar(200)]).toEqual([0.3, 0.3, 0.5, 1, 5]);
    expect([1, 12, 40, 200].map((n) => barFor({ kind: 'binary', within: 0.05 }, n, 1).lead)).toEqual([1, 1, 1, 5]);
    const graded = (within: number) => barFor({ kind: 'graded', within }, 40).lead;
    expect(graded(0.0001)).toBeCloseTo(0.04, 12);
    expect(graded(0.25)).toBe(1);
  });
});

describe('the noise', () => {
  const items = [0, 0, 1, 1].map((sum) => ({ sum, count: 1 }));

  it('is what is usual until something was rolled out twice, and then more and more what was seen', () => {
    const within = (squares: number, freedom: number) =>
      estimateNoise({ kind: 'binary', items, repeats: { squares, freedom } }).within;
    expect(within(0, 0)).toBeCloseTo(0.05, 12);
    expect(within(0.2 * 4, 4)).toBeCloseTo((0.8 + 0.2) / 8, 12);
    expect(within(0.2 * 1000, 1000)).toBeCloseTo(0.2, 2);
    expect(within(0, 1000)).toBeLessThan(0.001);
  });

  it('of items that are all alike pulls each of them to their mean', () => {
    const pull = (list: readonly number[], kind: 'binary' | 'graded') =>
      estimateNoise({ kind, items: list.map((sum) => ({ sum, count: 1 })), repeats: { squares: 0, freedom: 0 } }).pull;
    expect(pull([0.5, 0.5, 0.5], 'graded')).toBe(4);
    expect(pull([0.1, 0.5, 0.9], 'graded')).toBeLessThan(0.1);
    expect(pull([1, 1, 1], 'binary')).toBe(4);
    expect(pull([0, 1], 'binary')).toBeLessThan(0.5);
  });
});

describe('judgeWave', () => {
  const judge = (own: Evidence, observed: Evidence, more: Partial<Parameters<typeof judgeWave>[0]> = {}) =>
    judgeWave({ knowledge: knowing(own), observed, remaining: [], ...more });

  it('reports gains and regressions apart, over what both texts were rolled out on', () => {
    const own = evidenceOf({ a: [0, 0], b: [1, 1], c: [1, 0], d: [1, 1] });
    const judged = judge(own, evidenceOf({ a: [1], b: [0], c: [1], d: [1], new: [1] }));
    expect(judged.gains).toEqual({ items: ['a', 'c'], sum: 1.5 });
    expect(judged.regressions).toEqual({ items: ['b'], sum: -1 });
    expect(judged.meanGain).toBeCloseTo(0.5 / 4, 12);
  });

  it('takes what is clearly better after the first look, and drops what is clearly worse', () => {
    const remaining = range(40).slice(16);
    const better = judge(steady(40), same(16, [1]), { remaining });
    expect(better).toMatchObject({ verdict: 'accept', meanGain: 0.5 });
    expect(better.chance).toBeGreaterThan(0.99);
    expect(better.reason).toMatch(/^expected \+\d+\.\d points, chance of a gain 100 % after 16 of 40 items$/);
    const worse = judge(steady(40), same(16, [0]), { remaining });
    expect(worse).toMatchObject({ verdict: 'reject' });
    expect(worse.reason).toContain('expected −');
  });

  it('drops what changes nothing after the first look', () => {
    const observed = each(16, (i) => [i % 2]);
    expect(judge(steady(40), observed, { remaining: range(40).slice(16) }).verdict).toBe('inconclusive');
  });

  it('continues while one item speaks for a candidate, and takes one for which several do', () => {
    const lifted = (n: number, few: number) => each(n, (i) => [i < 2 * few ? 1 : i % 2]);
    const knowledge = { ...knowing(steady(40)), repeats: { squares: 12, freedom: 60 } };
    const first = judgeWave({ knowledge, observed: lifted(16, 1), remaining: range(40).slice(16) });
    expect(first.verdict).toBe('continue');
    const [few, more] = [1, 5].map((items) => judgeWave({ knowledge, observed: lifted(40, items), remaining: [] }));
    expect([few!.verdict, more!.verdict]).toEqual(['inconclusive', 'accept']);
  });

  it('may ask for a second pass, and decides after it', () => {
    const wavering = each(20, (i) => [i / 20, Math.min(1, i / 20 + 0.4)]);
    const observed = each(20, (i) => [Math.min(1, i / 20 + 0.3)]);
    expect(judge(wavering, observed)).toMatchObject({
      verdict: 'continue',
      reason: expect.stringMatching(/; a second pass decides$/),
    });
    expect(judge(wavering, observed, { isSecondPass: true }).verdict).not.toBe('continue');
    const settings = { ...settingsFor(knowing(wavering), range(20), 40), hasSecondPass: false };
    expect(judge(wavering, observed, { settings }).verdict).not.toBe('continue');
  });

  it('needs a lead over rollouts of the current text: what is only believed of it decides nothing', () => {
    const before = inherit({ knowledge: knowing(steady(40)), observed: each(16, (i) => [i % 2]), ids: range(40) });
    const observed = each(40, (i) => [i < 16 ? i % 2 : 1]);
    expect(judgeWave({ knowledge: before, observed, remaining: [] }).verdict).not.toBe('accept');
    const nothing = { ...before, own: noEvidence };
    expect(judgeWave({ knowledge: nothing, observed, remaining: [] }).verdict).toBe('invalid');
    expect(judgeWave({ knowledge: nothing, observed, remaining: ['more'] }).verdict).toBe('continue');
  });

  it('says of a lead that decides nothing about how many rollouts would', () => {
    const wavering = each(40, (i) => [0, 1, i % 2]);
    const observed = each(40, (i) => [i < 21 ? 1 : 0, i < 21 ? 0 : 1]);
    const judged = judge(wavering, observed, { isSecondPass: true });
    expect(judged.verdict).toBe('inconclusive');
    expect(judged.needs).toMatchObject({ power: 0.8 });
    expect(judged.needs!.rollouts).toBeGreaterThan(40);
  });

  it('is invalid with more than a fifth missing; at a fifth it judges the rest', () => {
    const verdict = (missing: number) =>
      judge(same(10, [0, 0]), same(10 - missing, [1]), { missing: range(10).slice(10 - missing) }).verdict;
    expect([verdict(2), verdict(3)]).toEqual(['accept', 'invalid']);
  });

  it('has an answer for one item, none, and all missing', () => {
    const one = (before: number[], after: number) =>
      judge(same(1, before), same(1, [after]), { isSecondPass: true }).verdict;
    expect(one([0, 0], 1)).toBe('accept');
    for (const verdict of [one([0, 0], 0), one([1, 1], 1), one([1, 1], 0)]) {
      expect(['reject', 'inconclusive']).toContain(verdict);
    }
    expect(judgeWave({ knowledge: noKnowledge, observed: noEvidence, remaining: [] }).verdict).toBe('invalid');
    expect(judge(same(3, [1, 0]), noEvidence, { missing: range(3) }).verdict).toBe('invalid');
  });

  it('has an answer when nothing varies, graded or not', () => {
    for (const score of [0, 0.4, 1]) {
      const judged = judge(same(8, [score, score]), same(8, [score]), { isSecondPass: true });
      expect(['reject', 'inconclusive']).toContain(judged.verdict);
      expect(judged.meanGain).toBeCloseTo(0, 12);
    }
    expect(judge(same(8, [0.4, 0.4]), same(8, [0.9])).verdict).toBe('accept');
  });

  it('judges graded scores by their own noise', () => {
    const verdict = (noise: number) => {
      const own = each(20, (i) => [i / 25, i / 25 + noise]);
      return judge(
        own,
        each(20, (i) => [i / 25 + noise / 2 + 0.15]),
        { isSecondPass: true },
      );
    };
    expect(verdict(0.01).verdict).toBe('accept');
    expect(verdict(0.3).expectedGain).toBeLessThan(verdict(0.01).expectedGain);
  });

  it('is not decided by the size of one loss', () => {
    const own = each(20, (i) => (i === 19 ? [0.95, 0.952] : [0.3, 0.302]));
    const first = judge(own, evidenceOf({ item0: [0.9], item19: [0] }), { remaining: range(19).slice(1) });
    expect(first.verdict).toBe('continue');
    expect(
      judge(
        own,
        each(20, (i) => [i === 19 ? 0 : 0.9]),
      ).verdict,
    ).toBe('accept');
    const second = judge(own, evidenceOf({ item0: [0.1], item19: [0] }), { remaining: range(19).slice(1) });
    expect(['reject', 'inconclusive']).toContain(second.verdict);
  });

  it('can be recomputed from its record', () => {
    const knowledge = inherit({ knowledge: knowing(same(8, [0, 1, 1])), observed: same(4, [1]), ids: range(8) });
    const input = { knowledge, observed: same(3, [1, 0]), remaining: range(8).slice(3) };
    const { own, inherited, repeats } = knowledge;
    const record = JSON.parse(
      JSON.stringify({ ...input, own: [...own], inherited: [...inherited], observed: [...input.observed] }),
    );
    const read = {
      knowledge: { own: new Map(record.own) as Evidence, inherited: new Map(record.inherited) as never, repeats },
      observed: new Map(record.observed) as Evidence,
      remaining: record.remaining,
    };
    expect(judgeWave(read)).toEqual(judgeWave(input));
  });
});

describe('what is known of a skill', () => {
  it('is its own rollouts and what it has inherited; only its own make an item met', () => {
    const knowledge = { ...knowing(evidenceOf({ a: [1, 0] })), inherited: new Map([['b', { sum: 0.2, count: 0.3 }]]) };
    expect(knownOf(knowledge, 'a')).toEqual({ sum: 1, count: 2 });
    expect(knownOf(knowledge, 'b')).toEqual({ sum: 0.2, count: 0.3 });
    expect(knownOf(knowledge, 'c')).toEqual({ sum: 0, count: 0 });
    expect(unmetItems(knowledge, ['a', 'b', 'c'])).toEqual(['b', 'c']);
    expect(knownOf(addOwn(knowledge, [{ id: 'b', score: 1 }]), 'b')).toEqual({ sum: 1.2, count: 1.3 });
  });

  it('is in dispute where it has one rollout and a candidate scores otherwise, either way', () => {
    const knowledge = knowing(evidenceOf({ up: [0], down: [1], twice: [0, 0], same: [1], near: [0.5] }));
    const observed = evidenceOf({ up: [1], down: [0], twice: [1], same: [1], near: [0.65], unmet: [1] });
    expect(disputedItems(knowledge, observed)).toEqual(['up', 'down']);
  });

  it('after an accept is what the winner did, and of what was known as much as it seems not to change', () => {
    const knowledge = knowing(each(10, (i) => [i % 2, i % 2]));
    const observed = each(6, (i) => [i === 0 ? 1 : i % 2]);
    const after = inherit({ knowledge, observed, ids: range(10) });
    expect(after.own).toEqual(observed);
    const kept = (id: string) => after.inherited.get(id)!.count;
    expect(kept('item1')).toBeGreaterThan(1.5); // as before: both rollouts still speak
    expect(kept('item0')).toBeLessThan(1); // lifted: the old ones hardly do
    expect(kept('item9')).toBe(0.3); // not rolled out: hardly anything is known
    expect(after.repeats).toEqual({ squares: 0, freedom: 10 });
  });

  it('believes a winner that has changed everything by luck less than it measured', () => {
    const knowledge = knowing(each(40, (i) => [i % 2, (i >> 1) % 2]));
    const observed = each(40, (i) => [i % 3 ? 1 : 0]);
    const after = inherit({ knowledge, observed, ids: range(40) });
    const measured = 26 / 40;
    expect(believedScore(after, range(40))).toBeLessThan(measured);
    expect(believedScore(after, range(40))).toBeGreaterThan(0.5);
    expect(believedScore(noKnowledge, range(3))).toBe(0);
  });

  it('expects of a candidate that was never rolled out a little, good and bad', () => {
    const { upside, downside, gain, lead } = weigh({
      knowledge: knowing(steady(40)),
      observed: noEvidence,
      ids: range(40),
    });
    expect(upside).toBeGreaterThan(downside);
    expect(gain).toBeCloseTo(upside - downside, 12);
    expect(lead).toBe(0);
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
