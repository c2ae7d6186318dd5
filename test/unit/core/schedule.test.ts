import { describe, expect, it } from 'vitest';
import { buildScheduler, type LRSchedulerMode } from '../../../src/core/contracts/index.ts';

const times = (count: number, value: number) => Array<number>(count).fill(value);

type Row = [mode: LRSchedulerMode, maxLr: number, minLr: number, totalSteps: number, budgets: number[]];
const rows: Row[] = [
  ['cosine', 4, 2, 8, [4, 4, 3, 3, 3, 2, 2, 2, 2]],
  ['linear', 4, 2, 8, [4, 4, 3, 3, 3, 2, 2, 2, 2]],
  ['cosine', 10, 2, 4, [9, 6, 3, 2]],
  ['linear', 10, 2, 10, [9, 8, 8, 7, 6, 5, 4, 4, 3, 2]],
  ['cosine', 100, 0, 4, [85, 50, 15, 0]],
  ['linear', 5, 2, 6, [4, 4, 4, 3, 2, 2]],
  ['linear', 7, 1, 4, [6, 4, 2, 1]],
  ['linear', 9, 2, 2, [6, 2]],
  ['cosine', 4, 2, 1, [4, 4, 4]],
  ['linear', 4, 2, 0, [4, 4, 4]],
  ['cosine', 2, 4, 4, [4, 4, 4, 4]],
  ['linear', 2, 4, 4, [4, 4, 4, 4]],
  ['constant', 4, 2, 3, [4, 4, 4, 4]],
  ['autonomous', 4, 2, 1, [999, 999]],
  ['autonomous', 4, 2, 4, [999, 999, 999, 999, 999]],
  ['cosine', 4, 2, 16, [...times(5, 4), ...times(5, 3), ...times(6, 2)]],
  ['cosine', 4, 2, 40, [...times(13, 4), ...times(13, 3), ...times(14, 2)]],
];

describe('buildScheduler', () => {
  it.each(rows)('%s from %i to %i over %i steps', (mode, maxLr, minLr, totalSteps, budgets) => {
    const scheduler = buildScheduler({ mode, maxLr, minLr, totalSteps });
    expect(budgets.map(() => scheduler.step())).toEqual(budgets);
    expect(budgets.map((_, index) => scheduler.getLr(index + 1))).toEqual(budgets);
  });

  it('decays by cosine from 4 to 2 over 8 steps unless told otherwise', () => {
    const scheduler = buildScheduler();
    expect(times(8, 0).map(() => scheduler.step())).toEqual([4, 4, 3, 3, 3, 2, 2, 2]);
  });

  it('continues where another stood', () => {
    const first = buildScheduler();
    first.step();
    first.step();
    expect(first.stateDict()).toEqual({ currentStep: 2 });
    const second = buildScheduler();
    second.loadStateDict(first.stateDict());
    expect(second.step()).toBe(first.step());
    second.loadStateDict({});
    expect(second.stateDict()).toEqual({ currentStep: 0 });
  });

  it('answers for any step without moving', () => {
    const scheduler = buildScheduler();
    expect([scheduler.getLr(8), scheduler.getLr(99), scheduler.getLr(1)]).toEqual([2, 2, 4]);
    expect(scheduler.stateDict()).toEqual({ currentStep: 0 });
  });

  it.each(['exponential', 'constructor'])('refuses the mode %j, and lists those there are', (mode) => {
    expect(() => buildScheduler({ mode: mode as LRSchedulerMode })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `lrScheduler must be one of constant, linear, cosine, autonomous, got "${mode}"`,
      }),
    );
  });
});
