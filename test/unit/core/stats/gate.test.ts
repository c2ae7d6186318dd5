import { describe, expect, it } from 'vitest';
import {
  evaluateGate,
  type GateInput,
  type GateMetric,
  selectGateScore,
} from '../../../../src/core/contracts/index.ts';

function gate(candHard: number, currentScore: number, bestScore: number, more: Partial<GateInput> = {}) {
  const skills = { candidateSkill: 'candidate', currentSkill: 'current', bestSkill: 'best' };
  return evaluateGate({ ...skills, candHard, currentScore, bestScore, bestStep: 3, globalStep: 9, ...more });
}

describe('evaluateGate', () => {
  it('takes what beats the best, and remembers the step', () => {
    expect(gate(0.9, 0.5, 0.5)).toEqual({
      action: 'accept_new_best',
      currentSkill: 'candidate',
      currentScore: 0.9,
      bestSkill: 'candidate',
      bestScore: 0.9,
      bestStep: 9,
    });
  });

  it('takes what beats the current skill alone, and keeps the best', () => {
    expect(gate(0.6, 0.4, 0.8)).toEqual({
      action: 'accept',
      currentSkill: 'candidate',
      currentScore: 0.6,
      bestSkill: 'best',
      bestScore: 0.8,
      bestStep: 3,
    });
  });

  it('changes nothing otherwise', () => {
    expect(gate(0.5, 0.5, 0.5)).toEqual({
      action: 'reject',
      currentSkill: 'current',
      currentScore: 0.5,
      bestSkill: 'best',
      bestScore: 0.5,
      bestStep: 3,
    });
  });

  it.each([
    ['fact 6 of sleep', 0.6, 0.5, 0.5, 'accept_new_best'],
    ['fact 6 of sleep', 0.6, 0.5, 0.7, 'accept'],
    ['fact 6 of sleep', 0.6, 0.5, 0.6, 'accept'],
    ['fact 6 of sleep', 0.5, 0.5, 0.5, 'reject'],
    ['a tie with the best that beats current', 0.8, 0.5, 0.8, 'accept'],
    ['a tie with current', 0.5, 0.5, 0.8, 'reject'],
    ['less than current but more than the best', 0.9, 0.95, 0.5, 'accept_new_best'],
    ['a hair more than current', 0.1 + 0.2, 0.3, 1, 'accept'],
    ['no number at all', Number.NaN, 0, 0, 'reject'],
  ])('%s: %d against current %d and best %d is %s', (_, candidate, current, best, action) => {
    expect(gate(candidate, current, best).action).toBe(action);
  });

  it('looks at the metric it is told to', () => {
    expect(gate(0.95, 0.5, 0.5, { candSoft: 0.2, metric: 'soft' }).action).toBe('reject');
    expect(gate(0.1, 0.5, 0.5, { candSoft: 0.6, metric: 'soft' }).currentScore).toBe(0.6);
    expect(gate(1, 0.5, 0.5, { candSoft: 0.6, metric: 'mixed' }).currentScore).toBe(0.8);
    expect(gate(1, 0.5, 0.5, { metric: 'mixed' }).action, 'soft counts as 0 when it is not given').toBe('reject');
  });
});

describe('selectGateScore', () => {
  it('is hard, soft, or a mean of both by weight', () => {
    expect(selectGateScore(1, 0.6)).toBe(1);
    expect(selectGateScore(1, 0.6, 'soft')).toBe(0.6);
    expect(selectGateScore(1, 0.6, 'mixed')).toBe(0.8);
    expect(selectGateScore(1, 0.5, 'mixed', 0.25)).toBe(0.875);
    expect(selectGateScore(1, 0.4, 'mixed', 0.5), 'fact 5 of sleep').toBeCloseTo(0.7, 12);
    expect([selectGateScore(1, 0, 'mixed', 0), selectGateScore(1, 0, 'mixed', 1)]).toEqual([1, 0]);
  });

  it.each([5, -2, 7, -3, Number.NaN])('fact 5, differs: refuses the weight %d instead of bending it', (weight) => {
    expect(() => selectGateScore(1, 0, 'mixed', weight)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `gateMixedWeight must be between 0 and 1, got ${weight}`,
      }),
    );
  });

  it('fact 5: refuses a metric that it does not know', () => {
    expect(() => selectGateScore(1, 0, 'best' as GateMetric)).toThrow(
      'gateMetric must be one of hard, soft, mixed, got "best"',
    );
  });
});
