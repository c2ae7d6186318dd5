import { describe, expect, it } from 'vitest';
import {
  addObservations,
  isBinary,
  missingShare,
  noEvidence,
  pooledMean,
  withinVariance,
} from '../../../../src/public/stats.ts';
import { evidenceOf } from './evidence.fixture.ts';

describe('evidence', () => {
  it('pools rollouts by item and leaves what it was made from alone', () => {
    const first = evidenceOf({ a: [1, 0], b: [0.5] });
    const second = addObservations(first, [{ id: 'a', score: 1 }]);
    expect(second.get('a')).toEqual({ sum: 2, sumSquares: 2, count: 3 });
    expect(first.get('a')).toEqual({ sum: 1, sumSquares: 1, count: 2 });
    expect(pooledMean(second)).toBeCloseTo((2 / 3 + 0.5) / 2, 12);
  });

  it('does not take a missing, NaN or infinite score for an observation', () => {
    const scores = [null, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1];
    const observations = scores.map((score) => ({ id: 'a', score }));
    expect(addObservations(noEvidence, observations).get('a')).toEqual({ sum: 1, sumSquares: 1, count: 1 });
    expect(missingShare(observations)).toBe(0.8);
    expect(missingShare([])).toBe(0);
  });

  it('knows the spread within items by the textbook: squares about each mean over the free ones', () => {
    const evidence = evidenceOf({ a: [1, 0], b: [0.2, 0.4, 0.9], c: [1] });
    const squares = 0.5 + (0.3 ** 2 + 0.1 ** 2 + 0.4 ** 2);
    expect(withinVariance(evidence)).toBeCloseTo(squares / 3, 12);
    expect(withinVariance(evidenceOf({ a: [1], b: [0] }))).toBeUndefined();
    expect(withinVariance(evidenceOf({ a: [0.7, 0.7, 0.7] }))).toBeCloseTo(0, 12);
  });

  it('of nothing has no mean', () => {
    expect(pooledMean(noEvidence)).toBeUndefined();
  });

  it('is binary while every score is 0 or 1', () => {
    expect([isBinary(), isBinary(noEvidence), isBinary(evidenceOf({ a: [0, 1, 1], b: [1] }))]).toEqual([
      true,
      true,
      true,
    ]);
    expect(isBinary(evidenceOf({ a: [0, 1] }), evidenceOf({ a: [1], b: [0.5] }))).toBe(false);
  });

  it('survives a journal', () => {
    const evidence = evidenceOf({ a: [1, 0], __proto__x: [0.5], '7': [1] });
    expect(new Map(JSON.parse(JSON.stringify([...evidence])))).toEqual(evidence);
  });
});
