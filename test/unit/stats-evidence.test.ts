import { describe, expect, it } from 'vitest';
import {
  addObservations,
  isBinary,
  mergeAccepted,
  missingShare,
  noEvidence,
  pooledMean,
  refreshPlan,
  withinVariance,
} from '../../src/core/stats/index.ts';
import { evidenceOf } from './stats-evidence.fixture.ts';

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

  it('survives a journal', () => {
    const evidence = evidenceOf({ a: [1, 0], __proto__x: [0.5], '7': [1] });
    expect(new Map(JSON.parse(JSON.stringify([...evidence])))).toEqual(evidence);
  });
});

describe('an accept', () => {
  it("keeps only the believable part of the lead: the winner's rollouts and a little of the old ones", () => {
    const merged = mergeAccepted({
      incumbent: evidenceOf({ a: [0, 0, 1, 1], b: [1], unseen: [1, 1] }),
      candidate: evidenceOf({ a: [1], b: [0], added: [1] }),
      keptRollouts: 0.25,
    });
    expect(merged.get('a')).toEqual({ sum: 1.125, sumSquares: 1.125, count: 1.25 });
    expect(merged.get('b')).toEqual({ sum: 0.25, sumSquares: 0.25, count: 1.25 });
    expect(merged.get('unseen')).toEqual({ sum: 2, sumSquares: 2, count: 2 });
    expect(merged.get('added')).toEqual({ sum: 1, sumSquares: 1, count: 1 });
  });

  it('leaves binary scores binary', () => {
    const incumbent = evidenceOf({ a: [0, 1, 1], b: [1] });
    const merged = mergeAccepted({ incumbent, candidate: evidenceOf({ a: [1], b: [0] }), keptRollouts: 1 / 3 });
    expect([isBinary(incumbent, merged), isBinary(evidenceOf({ a: [0.5] }))]).toEqual([true, false]);
  });
});

describe('refreshPlan', () => {
  const items = Array.from({ length: 40 }, (_, i) => `${i}`);

  it('rounds by the draw, so that the rate is exact in the mean', () => {
    const size = (draw: number) => refreshPlan({ items, incumbent: noEvidence, share: 0.0125, draw }).length;
    expect([size(0), size(0.49), size(0.5), size(0.999)]).toEqual([0, 0, 1, 1]);
  });

  it('takes the items with the fewest rollouts, earlier ones first', () => {
    const incumbent = evidenceOf({ a: [1, 1], b: [1], c: [0], d: [0, 1, 1] });
    expect(refreshPlan({ items: ['a', 'b', 'c', 'd'], incumbent, share: 0.75, draw: 0 })).toEqual(['b', 'c', 'a']);
    expect(refreshPlan({ items: ['x', 'b'], incumbent, share: 0.5, draw: 0.5 })).toEqual(['x']);
    expect(refreshPlan({ items: [], incumbent, share: 1, draw: 0.9 })).toEqual([]);
  });
});
