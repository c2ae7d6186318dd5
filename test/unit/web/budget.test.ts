import { expect, it } from 'vitest';
import type { RunFigures } from '../../../src/core/page/index.ts';
import { budgetsOf, standingOf } from '../../../src/web/screens/cost.tsx';

const figures = (limits: Record<string, number>) =>
  ({
    about: { limits },
    cost: { total: { calls: 700, tokens: 90_000, costUsd: 0.5 } },
    summary: { totalWallTimeS: 90 },
    curve: [
      { calls: 300, tokens: 40_000, costUsd: 0.2 },
      { calls: 400, tokens: 50_000, costUsd: 0.3 },
      { calls: 500, tokens: 60_000, costUsd: 0.4 },
    ],
  }) as unknown as RunFigures;

it('says what is left at the start, after each step, and now, and for how long it lasts', () => {
  const [calls, money] = budgetsOf(figures({ maxCalls: 1_000, maxCostUsd: 2 }));
  expect(calls).toMatchObject({ what: 'calls', spent: 700, course: [1_000, 700, 600, 500, 300], lasts: 3 });
  expect(money).toMatchObject({ what: 'dollars', spent: 0.5, lasts: 15 });
  expect(money!.amount(money!.most)).toBe('$2.00');
});

it('knows only the sum of minutes, and nothing of rollouts', () => {
  const [minutes, rollouts] = budgetsOf(figures({ maxMinutes: 30, maxRollouts: 800 }));
  expect(minutes).toMatchObject({ spent: 1.5, course: [], lasts: null });
  expect(minutes!.amount(1.5)).toBe('1.5');
  expect(rollouts).toMatchObject({ spent: null, course: [] });
});

it('never falls below nothing, and says in a word how it stands', () => {
  const [calls] = budgetsOf(figures({ maxCalls: 600 }));
  expect(calls!.course).toEqual([600, 300, 200, 100, 0]);
  expect(calls!.lasts).toBeNull();
  expect([700, 599, 540, 539].map((spent) => standingOf({ spent, most: 600 }))).toEqual([
    ...['used', 'nearly', 'nearly', 'within'],
  ]);
  expect(budgetsOf(figures({}))).toEqual([]);
});
