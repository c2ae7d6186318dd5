import { describe, expect, it } from 'vitest';
import { exactRace, hardestFirst, startable } from '../../../../src/public/stats.ts';
import { evidenceOf } from './evidence.fixture.ts';

describe('hardestFirst', () => {
  it('puts the lowest pass rate first, the unseen before it, and keeps the order of equals', () => {
    const seen = evidenceOf({ a: [1], b: [0, 1], c: [0, 0], d: [0, 1] });
    expect(hardestFirst(['a', 'b', 'c', 'd', 'e'], seen)).toEqual(['e', 'c', 'b', 'd', 'a']);
  });
});

describe('exactRace', () => {
  const race = (bar: number, finished: (number | null)[], remaining: number) => exactRace({ bar, finished, remaining });

  it('stops when perfect scores on the rest would not beat the bar', () => {
    expect(race(0.75, [0, 0], 2)).toEqual({ state: 'cannot-win', upperBound: 0.5, lowerBound: 0 });
  });

  it('continues near a tie: a sum in another order may come out on the other side', () => {
    expect(race(0.5, [0, 0], 2).state).toBe('continue');
    expect(race(0.1 + 0.2, [0.3, 0], 0).state).toBe('complete');
    expect(race((0.1 + 0.2 + 1) / 3, [0.2, 0.1], 1).state).toBe('continue');
  });

  it('trusts a tie of whole scores if the score is their plain mean', () => {
    const tie = (finished: number[]) => exactRace({ bar: 0.5, finished, remaining: 2, isPlainMean: true }).state;
    expect([tie([0, 0]), tie([0, 1]), tie([1e-17, 0])]).toEqual(['cannot-win', 'continue', 'continue']);
  });

  it('knows when a candidate must win, and what it could still score', () => {
    expect(race(0.4, [1, 1], 2)).toEqual({ state: 'must-win', upperBound: 1, lowerBound: 0.5 });
  });

  it('leaves errored rollouts out of the mean, as the strict gate does', () => {
    expect(race(0.5, [0, null], 1).upperBound).toBe(0.5);
    expect(race(0.5, [Number.NaN, null], 1)).toEqual({ state: 'continue', upperBound: 1, lowerBound: 0 });
    expect(race(0.5, [null, null], 0)).toEqual({ state: 'complete', upperBound: 0, lowerBound: 0 });
  });

  it('has an answer for no items', () => {
    expect(race(0, [], 0).state).toBe('complete');
  });
});

describe('startable', () => {
  it('fills the limit while failures are affordable, and narrows down to one', () => {
    const start = (failed: number, inFlight = 0) =>
      startable({ bar: 0.5, finished: Array(failed).fill(0), inFlight, waiting: 40 - failed - inFlight, limit: 8 });
    // 20 failures of 40 can still tie, which loses, but floats are not trusted with a tie: 21 are certain
    expect([start(0), start(10), start(14), start(18), start(20), start(21)]).toEqual([8, 8, 7, 3, 1, 0]);
    expect([start(10, 8), start(10, 5), start(18, 2), start(18, 3)]).toEqual([0, 3, 1, 0]);
  });

  it('starts no more than there are', () => {
    expect(startable({ bar: 0.1, finished: [], inFlight: 0, waiting: 3, limit: 8 })).toBe(3);
    expect(startable({ bar: 0.1, finished: [1], inFlight: 0, waiting: 0, limit: 8 })).toBe(0);
  });
});
