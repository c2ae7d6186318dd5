import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PythonRandom } from '../../../../src/core/contracts/index.ts';
import {
  addObservations,
  type Evidence,
  gainElsewhere,
  judgeProof,
  type NightProof,
  noEvidence,
  normalQuantile,
  PROOF_LOOKS,
  proveGain,
} from '../../../../src/core/stats/index.ts';

const clip = (score: number) => Math.min(1, Math.max(0, score));

type World = {
  readonly tasks: number;
  readonly passes: number;
  /** The score that a task would have over endlessly many attempts. */
  readonly truth: (task: number) => number;
  /** One attempt at a task. */
  readonly draw: (truth: number, random: PythonRandom) => number;
};

const gauss = (random: PythonRandom) =>
  Math.sqrt(-2 * Math.log(1 - random.random())) * Math.cos(2 * Math.PI * random.random());
const normal = (sd: number) => (truth: number, random: PythonRandom) => clip(truth + sd * gauss(random));
const binary = (truth: number, random: PythonRandom) => (random.random() < truth ? 1 : 0);

function evidence({ tasks, passes, truth, draw }: World, random: PythonRandom): Evidence {
  const ids = Array.from({ length: tasks }, (_, task) => task);
  const one = () => ids.map((task) => ({ id: `t${task}`, score: draw(truth(task), random) }));
  return addObservations(noEvidence, Array.from({ length: passes }, one).flat());
}

/** p values of so many worlds in which the winner's tasks are better by `gain`. */
function pValues(world: World, gain: number, count: number, seed: number): number[] {
  const random = new PythonRandom(seed);
  const better = { ...world, truth: (task: number) => world.truth(task) + gain };
  return Array.from(
    { length: count },
    () => proveGain(evidence(better, random), evidence(world, random), 0.05)!.pValue,
  );
}

const share = (values: readonly number[], bar = 0.05) => values.filter((value) => value <= bar).length / values.length;
const uneven = (task: number) => [0.3, 0.5, 0.7][task % 3]!;

describe('proveGain', () => {
  it.each([
    ['a noisy judge, few tasks', { tasks: 6, passes: 2, truth: uneven, draw: normal(0.15) }],
    ['a noisy judge, many tasks', { tasks: 16, passes: 4, truth: uneven, draw: normal(0.15) }],
    ['tasks that are done or not', { tasks: 12, passes: 2, truth: uneven, draw: binary }],
  ])('1: finds a gain where there is none as rarely as it may: %s', (_, world) => {
    const found = share(pValues(world, 0, 1000, 11));
    // Four standard errors of 1,000 draws above; below, the prior may cost something.
    expect(found).toBeLessThan(0.05 + 4 * Math.sqrt((0.05 * 0.95) / 1000));
    expect(found).toBeGreaterThan(0.005);
  });

  it('finds a real gain, and the larger one more often', () => {
    const world = { tasks: 12, passes: 4, truth: uneven, draw: normal(0.15) };
    const [small, large] = [share(pValues(world, 0.05, 400, 3)), share(pValues(world, 0.15, 400, 3))];
    expect(large).toBeGreaterThan(0.95);
    expect(large).toBeGreaterThan(small);
  });

  it('is a proof only with evidence of the same tasks on both sides', () => {
    const some = addObservations(noEvidence, [{ id: 'a', score: 1 }]);
    const other = addObservations(noEvidence, [{ id: 'b', score: 0 }]);
    expect(proveGain(noEvidence, noEvidence, 0.05)).toBeUndefined();
    expect(proveGain(some, noEvidence, 0.05)).toBeUndefined();
    expect(proveGain(some, other, 0.05)).toBeUndefined();
    expect(proveGain(addObservations(some, [{ id: 'b', score: 1 }]), other, 0.05)).toMatchObject({
      tasks: 1,
      gain: { value: 1 },
    });
  });

  it('2: leaves out what has no result, and proves nothing by it', () => {
    const before = addObservations(noEvidence, [
      { id: 'a', score: null },
      { id: 'b', score: 0.5 },
    ]);
    const after = addObservations(noEvidence, [
      { id: 'a', score: 1 },
      { id: 'b', score: 0.5 },
    ]);
    expect(proveGain(after, before, 0.05)).toMatchObject({ tasks: 1, gain: { value: 0 }, pValue: 0.5 });
  });

  it('1: does not take one lucky task for a proof, however sure its few attempts look', () => {
    const of = (score: number) => addObservations(noEvidence, [{ id: 'a', score }]);
    expect(proveGain(of(1), of(0), 0.05)!.pValue).toBeGreaterThan(0.05);
  });

  it('has an interval within -1 and 1 that holds its value', () => {
    const score = fc.double({ min: 0, max: 1, noNaN: true });
    const side = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), score), { minLength: 1, maxLength: 24 });
    const toEvidence = (rows: readonly (readonly [string, number])[]) =>
      addObservations(
        noEvidence,
        rows.map(([id, one]) => ({ id, score: one })),
      );
    fc.assert(
      fc.property(side, side, (winner, seed) => {
        const proof = proveGain(toEvidence(winner), toEvidence(seed), 0.05);
        if (proof === undefined) return;
        const { value, interval } = proof.gain;
        expect(interval.low).toBeGreaterThanOrEqual(-1);
        expect(interval.high).toBeLessThanOrEqual(1);
        expect(interval.low).toBeLessThanOrEqual(value);
        expect(interval.high).toBeGreaterThanOrEqual(value);
        expect(proof.pValue).toBeGreaterThanOrEqual(0);
        expect(proof.pValue).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('judgeProof', () => {
  it('1: spends the error over its looks, and no more', () => {
    expect(PROOF_LOOKS.reduce((sum, { share: part }) => sum + part, 0)).toBeCloseTo(1, 12);
    for (const [look, { share: part }] of PROOF_LOOKS.entries()) {
      expect(judgeProof({ pValue: 0.05 * part }, look, 0.05)).toBe('proven');
      expect(judgeProof({ pValue: 0.05 * part + 1e-6 }, look, 0.05)).not.toBe('proven');
    }
  });

  it('looks again only at what may still be proven, and never after the last look', () => {
    expect(judgeProof({ pValue: 0.06 }, 0, 0.05)).toBe('look-again');
    expect(judgeProof({ pValue: 0.5 }, 0, 0.05)).toBe('not-proven');
    expect(judgeProof({ pValue: 0.4 }, 0, 0.05)).toBe('not-proven');
    expect(judgeProof({ pValue: 0.02 }, PROOF_LOOKS.length - 1, 0.05)).toBe('not-proven');
  });

  it('1: all looks together are wrong as rarely as one may be', () => {
    const random = new PythonRandom(5);
    const world = { tasks: 8, truth: uneven, draw: normal(0.15) };
    let wrong = 0;
    for (let night = 0; night < 1000; night++) {
      let [winner, seed] = [noEvidence, noEvidence] as [Evidence, Evidence];
      let step: ReturnType<typeof judgeProof> = 'look-again';
      let made = 0;
      for (let look = 0; step === 'look-again'; look++) {
        const passes = PROOF_LOOKS[look]!.passes - made;
        made += passes;
        winner = merge(winner, evidence({ ...world, passes }, random));
        seed = merge(seed, evidence({ ...world, passes }, random));
        step = judgeProof(proveGain(winner, seed, 0.05)!, look, 0.05);
      }
      wrong += step === 'proven' ? 1 : 0;
    }
    expect(wrong / 1000).toBeLessThan(0.05);
  });
});

function merge(one: Evidence, other: Evidence): Evidence {
  const merged = new Map(one);
  for (const [id, { sum, sumSquares, count }] of other) {
    const had = merged.get(id) ?? { sum: 0, sumSquares: 0, count: 0 };
    merged.set(id, { sum: had.sum + sum, sumSquares: had.sumSquares + sumSquares, count: had.count + count });
  }
  return merged;
}

const proof = (value: number, noise: number, luckOfTasks: number): NightProof => ({
  gain: { value, interval: { low: -1, high: 1 } },
  ...{ pValue: 0.001, tasks: 10, noise, luckOfTasks },
});

describe('gainElsewhere', () => {
  it('is never more than what was measured, and not less than nothing where something was gained', () => {
    const small = fc.double({ min: 0.001, max: 0.2, noNaN: true });
    const value = fc.double({ min: -0.5, max: 1, noNaN: true });
    fc.assert(
      fc.property(value, small, small, fc.double({ min: 1e-4, max: 0.05, noNaN: true }), (gain, noise, luck, error) => {
        const expected = gainElsewhere(proof(gain, noise, luck), proof(gain, noise, luck), error);
        expect(expected).toBeLessThanOrEqual(gain);
        expect(expected).toBeGreaterThanOrEqual(Math.min(0, gain));
      }),
    );
  });

  it('leaves a gain alone that is far beyond what had to be proven', () => {
    expect(gainElsewhere(proof(0.6, 0.02, 0.03), proof(0.6, 0.02, 0.03), 0.02)).toBeCloseTo(0.6, 3);
  });

  it('promises what other tasks bring, where only what was proven is counted', () => {
    const random = new PythonRandom(9);
    const [error, noise, luck, truth] = [0.02, 0.03, 0.06, 0.06];
    const rows: { measured: number; promised: number }[] = [];
    for (let night = 0; night < 4000; night++) {
      const ofTasks = truth + luck * gauss(random);
      if (ofTasks + noise * gauss(random) < -normalQuantile(error) * noise) continue;
      const measured = ofTasks + noise * gauss(random);
      rows.push({
        measured,
        promised: gainElsewhere(proof(measured, noise, luck), proof(measured, noise, luck), error),
      });
    }
    const mean = (key: 'measured' | 'promised') => rows.reduce((sum, row) => sum + row[key], 0) / rows.length;
    expect(rows.length).toBeGreaterThan(1000);
    expect(mean('measured') - truth).toBeGreaterThan(0.03);
    expect(Math.abs(mean('promised') - truth)).toBeLessThan(0.015);
  });
});
