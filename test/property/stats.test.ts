import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateGate } from '../../src/core/gate.ts';
import { computeScore } from '../../src/core/score.ts';
import {
  addObservations,
  calibrate,
  combineJudgements,
  type Evidence,
  exactRace,
  finalReport,
  findFlips,
  findLeaks,
  hardestFirst,
  judgeWave,
  mergeAccepted,
  noEvidence,
  planWaves,
  raceOrder,
  refreshPlan,
  regressionVeto,
  tQuantile,
} from '../../src/core/stats/index.ts';

const anyScore = fc.oneof(
  fc.constantFrom(0, 1),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.constant(null),
  fc.double(),
);
const id = fc.oneof(fc.constantFrom('a', 'b', 'c', '__proto__', '0'), fc.string({ maxLength: 5 }));
const observation = fc.record({ id, score: anyScore });
const evidence = fc.array(observation, { maxLength: 40 }).map((list) => addObservations(noEvidence, list));
const binaryPair = fc.array(
  fc.record({ before: fc.array(fc.constantFrom(0, 1), { minLength: 1, maxLength: 4 }), after: fc.constantFrom(0, 1) }),
  { minLength: 1, maxLength: 30 },
);

const toEvidence = (lists: readonly (readonly number[])[]): Evidence =>
  addObservations(
    noEvidence,
    lists.flatMap((scores, i) => scores.map((score) => ({ id: `item${i}`, score }))),
  );

describe('the statistics', () => {
  it('never throw, whatever was observed', () => {
    fc.assert(
      fc.property(evidence, evidence, fc.array(id), fc.array(id), (incumbent, observed, missing, remaining) => {
        const { verdict, z } = judgeWave({ incumbent, observed, missing, remaining });
        expect(['continue', 'accept', 'reject', 'inconclusive', 'invalid']).toContain(verdict);
        expect(z).not.toBeNaN();
        calibrate(incumbent);
        finalReport({ fresh: observed, seed: incumbent });
        const flips = findFlips({ incumbent, candidate: observed });
        const again = flips.flatMap(({ id }) => [0, 0.5, 1, null].map((score) => ({ id, score })));
        regressionVeto({ flips, incumbent: again, candidate: again });
        mergeAccepted({ incumbent, candidate: observed, keptRollouts: 0.25 });
      }),
    );
  });

  it('end every race: after the last wave there is a verdict', () => {
    fc.assert(
      fc.property(evidence, evidence, (incumbent, observed) => {
        expect(judgeWave({ incumbent, observed, remaining: [] }).verdict).not.toBe('continue');
      }),
    );
  });

  it('do not depend on the order of the observations', () => {
    fc.assert(
      fc.property(binaryPair, (items) => {
        const incumbent = toEvidence(items.map(({ before }) => before));
        const observed = toEvidence(items.map(({ after }) => [after]));
        const { z } = judgeWave({ incumbent, observed, remaining: [] });
        const turned = { incumbent: new Map([...incumbent].reverse()), observed: new Map([...observed].reverse()) };
        expect(judgeWave({ ...turned, remaining: [] }).z).toBeCloseTo(z, 9);
      }),
    );
  });

  it('are symmetric: failures for passes turn z around', () => {
    fc.assert(
      fc.property(binaryPair, (items) => {
        const flip = (scores: readonly number[]) => scores.map((score) => 1 - score);
        const judge = (turn: (scores: readonly number[]) => readonly number[]) =>
          judgeWave({
            incumbent: toEvidence(items.map(({ before }) => turn(before))),
            observed: toEvidence(items.map(({ after }) => turn([after]))),
            remaining: [],
            scoreKind: 'binary',
          }).z;
        expect(judge(flip)).toBeCloseTo(-judge((scores) => scores), 9);
      }),
    );
  });

  it('are monotone: one more pass never lowers z', () => {
    fc.assert(
      fc.property(binaryPair, fc.nat(), (items, pick) => {
        const incumbent = toEvidence(items.map(({ before }) => before));
        const judge = (better: number) =>
          judgeWave({
            incumbent,
            observed: toEvidence(items.map(({ after }, i) => [i === better ? 1 : after])),
            remaining: [],
          }).z;
        expect(judge(pick % items.length)).toBeGreaterThanOrEqual(judge(-1));
      }),
    );
  });

  it('plan waves that rise to the whole set', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), (n) => {
        const waves = planWaves(n);
        expect(waves.at(-1)).toBe(n);
        expect([...waves].sort((a, b) => a - b)).toEqual(waves);
        expect(new Set(waves).size).toBe(waves.length);
      }),
    );
  });

  it('put items in order without losing one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(id), evidence, fc.double({ min: 0, max: 0.999, noNaN: true }), (items, seen, draw) => {
        for (const order of [raceOrder(items, seen), hardestFirst(items, seen)]) {
          expect([...order].sort()).toEqual([...items].sort());
        }
        expect(refreshPlan({ items, incumbent: seen, share: 1, draw: 0 })).toHaveLength(items.length);
        expect(items).toEqual(expect.arrayContaining(refreshPlan({ items, incumbent: seen, share: 0.3, draw })));
      }),
    );
  });

  it('have quantiles that rise with the probability and fall with the degrees of freedom', () => {
    const probability = fc.double({ min: 0.51, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(probability, fc.integer({ min: 1, max: 300 }), (p, freedom) => {
        expect(tQuantile(p, freedom)).toBeGreaterThan(tQuantile(p - 0.005, freedom));
        expect(tQuantile(p, freedom)).toBeGreaterThanOrEqual(tQuantile(p, freedom + 1) - 1e-9);
      }),
    );
  });
});

describe('the exact race', () => {
  const score = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 1) },
    fc.constantFrom(0.1, 0.2, 0.3),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.constant(null),
  );

  it('decides as the strict gate does, in any order, at any point, with errors', () => {
    const run = fc.record({
      scores: fc.oneof(
        fc.array(fc.constantFrom<number | null>(0, 1), { minLength: 1, maxLength: 30 }),
        fc.array(score, { minLength: 1, maxLength: 30 }),
      ),
      near: fc.double({ min: -0.1, max: 0.1, noNaN: true }),
    });
    fc.assert(
      fc.property(run, fc.boolean(), fc.boolean(), ({ scores, near }, isTie, isPlainMean) => {
        const results = scores.map((hard) => ({ hard: hard ?? 0, soft: 0, errored: hard === null }));
        const [full] = computeScore(results);
        const bar = isTie ? full : full + near;
        const isAccepted = strictAccepts(full, bar);
        const order = [...scores].sort((a, b) => (a ?? 0) - (b ?? 0));
        for (let met = 0; met <= order.length; met++) {
          const { state, upperBound, lowerBound } = exactRace({
            bar,
            isPlainMean,
            finished: order.slice(0, met),
            remaining: order.length - met,
          });
          if (state === 'cannot-win') expect(isAccepted).toBe(false);
          if (state === 'must-win' && results.some(({ errored }) => !errored)) expect(isAccepted).toBe(true);
          expect(full).toBeLessThanOrEqual(upperBound + 1e-9);
          expect(full).toBeGreaterThanOrEqual(lowerBound - 1e-9);
        }
      }),
      { numRuns: 500 },
    );
  });
});

function strictAccepts(score: number, bar: number): boolean {
  const skills = { candidateSkill: 'new', currentSkill: 'old', bestSkill: 'old', bestStep: 0, globalStep: 1 };
  return evaluateGate({ ...skills, candHard: score, currentScore: bar, bestScore: bar }).action !== 'reject';
}

describe('critics', () => {
  it('never throw, and refuse an edit that is a held-out text', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 80 });
    fc.assert(
      fc.property(text, text, fc.constantFrom('train', 'val', 'test'), (edit, other, split) => {
        findLeaks({ edit, items: [{ id: other, split, texts: [other], answers: [edit] }], contract: [other] });
      }),
    );
    const words = fc.array(fc.constantFrom('red', 'blue', 'green', 'slow', 'fast'), { minLength: 5, maxLength: 9 });
    fc.assert(
      fc.property(words, (list) => {
        const items = [{ id: 'only-one', split: 'val' as const, texts: [list.join(' ')], answers: [] }];
        expect(findLeaks({ edit: `Say ${list.join(', ')}!`, items }).isRefused).toBe(true);
      }),
    );
  });

  it('combine any judgements', () => {
    const judgement = fc.record({ id, rollout: fc.nat(3), score: anyScore });
    fc.assert(
      fc.property(fc.array(judgement), (judgements) => {
        const { missingShare } = combineJudgements(judgements);
        expect(missingShare).toBeGreaterThanOrEqual(0);
        expect(missingShare).toBeLessThanOrEqual(1);
      }),
    );
  });
});
