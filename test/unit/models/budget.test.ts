import { describe, expect, it } from 'vitest';
import { createLedger, nothingSpent } from '../../../src/core/run/index.ts';
import { type Amounts, createBudget } from '../../../src/public/models.ts';

const call: Amounts = { calls: 1, totalTokens: 100, costUsd: 0.5 };
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('counts what was spent, not what was set aside', async () => {
  const budget = createBudget({ maxCalls: 10, maxTotalTokens: 1_000, maxCostUsd: 5 });
  const reservation = await budget.reserve(call);
  expect(budget.reserved()).toEqual(call);
  expect(budget.left()).toEqual({ calls: 9, totalTokens: 900, costUsd: 4.5 });
  reservation.settle({ calls: 1, totalTokens: 40, costUsd: 0.2 });
  expect(budget.spent()).toEqual({ calls: 1, totalTokens: 40, costUsd: 0.2 });
  expect(budget.reserved()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
  expect(budget.left()).toEqual({ calls: 9, totalTokens: 960, costUsd: 4.8 });
});

it('gives all of it back when no attempt was made', async () => {
  const budget = createBudget({ maxCalls: 1 });
  (await budget.reserve(call)).release();
  expect(budget.spent()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
  (await budget.reserve(call)).settle(call);
});

it('ends a reservation once', async () => {
  const budget = createBudget();
  const reservation = await budget.reserve(call);
  reservation.settle(call);
  reservation.settle(call);
  reservation.release();
  expect(budget.spent()).toEqual(call);
  expect(budget.reserved()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
});

it('limits nothing when nothing is limited', async () => {
  const budget = createBudget();
  await budget.reserve({ calls: 1, totalTokens: 1e12, costUsd: 1e6 });
  expect(budget.left()).toEqual({ calls: Infinity, totalTokens: Infinity, costUsd: Infinity });
});

it('leaves nothing behind when sums of dollars are given back', async () => {
  const budget = createBudget({ maxCostUsd: 1 });
  const bounds = [0.1, 0.2, 1 / 3, 1e-10].map((costUsd) => ({ ...call, costUsd }));
  const reservations = await Promise.all(bounds.map((bound) => budget.reserve(bound)));
  for (const reservation of reservations) reservation.release();
  expect(budget.reserved().costUsd).toBe(0);
  expect(budget.left().costUsd).toBe(1);
});

describe('a limit', () => {
  it.each([
    [{ maxCalls: 2_000, spent: { calls: 2_000 } }, 'maxCalls is reached: 2,000 of 2,000 calls are spent', 'maxCalls'],
    [
      { maxTotalTokens: 3e6, spent: { totalTokens: 2_999_950 } },
      'maxTotalTokens is reached: 2,999,950 of 3,000,000 tokens are spent, and the next call may take up to 100',
      'maxTotalTokens',
    ],
    [
      { maxCostUsd: 5, spent: { costUsd: 4.8 } },
      'maxCostUsd is reached: $4.80 of $5.00 are spent, and the next call may take up to $0.50',
      'maxCostUsd',
    ],
  ])('%j that the next call could pass is an error that says so', async (options, message, flag) => {
    await expect(createBudget(options).reserve(call)).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      message,
      hint: `Raise ${flag} and start again: it resumes from here.`,
    });
  });

  it('shows amounts below a cent', async () => {
    const bound = { ...call, costUsd: 0.00123 };
    await expect(createBudget({ maxCostUsd: 0.001 }).reserve(bound)).rejects.toThrow(
      '$0.00 of $0.0010 are spent, and the next call may take up to $0.0012',
    );
  });

  it('may be reached exactly', async () => {
    const budget = createBudget({ maxCalls: 1, maxTotalTokens: 100, maxCostUsd: 0.5 });
    (await budget.reserve(call)).settle(call);
    expect(budget.left()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
  });

  it('of minutes holds from the moment it passes', async () => {
    let now = 1_000;
    const budget = createBudget({ maxMinutes: 1.5, now: () => now });
    now += 89_999;
    (await budget.reserve(call)).settle(call);
    now += 1;
    await expect(budget.reserve(call)).rejects.toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      message: 'maxMinutes is reached: 1.5 of 1.5 minutes are over',
    });
  });
});

describe('when only what others set aside stands in the way', () => {
  it('waits, and continues when they needed less', async () => {
    const budget = createBudget({ maxTotalTokens: 150 });
    const first = await budget.reserve(call);
    let isThrough = false;
    const second = budget.reserve(call).then(() => {
      isThrough = true;
    });
    await settled();
    expect(isThrough).toBe(false);
    first.settle({ ...call, totalTokens: 50 });
    await second;
    expect(budget.left().totalTokens).toBe(0);
  });

  it('throws when they needed it all', async () => {
    const budget = createBudget({ maxTotalTokens: 150 });
    const first = await budget.reserve(call);
    const second = budget.reserve(call);
    first.settle(call);
    await expect(second).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
  });

  it('ends the wait when a signal aborts', async () => {
    const budget = createBudget({ maxTotalTokens: 150 });
    await budget.reserve(call);
    const controller = new AbortController();
    const second = budget.reserve(call, [undefined, controller.signal]);
    const reason = new Error('Ctrl-C');
    controller.abort(reason);
    await expect(second).rejects.toBe(reason);
    expect(budget.reserved()).toEqual(call);
  });
});

describe('a part that is kept back', () => {
  const words = { purpose: 'the end', others: 'the start' };

  it('is not set aside, until it is released', async () => {
    const budget = createBudget({ maxCalls: 3 });
    budget.hold({ calls: 2, ...words });
    expect(budget.left().calls).toBe(1);
    (await budget.reserve(call)).settle(call);
    await expect(budget.reserve(call)).rejects.toThrow(
      'maxCalls is reached: 1 of 3 calls are spent, and 2 are kept for the end',
    );
    budget.release();
    (await budget.reserve(call)).settle(call);
    expect(budget.left().calls).toBe(1);
  });

  it.each([
    [
      { maxTotalTokens: 250 },
      { totalTokens: 200 },
      'maxTotalTokens leaves nothing for the start: 0 of 250 tokens were spent before it, the end needs 200, and the next call may take up to 100',
    ],
    [
      { maxCostUsd: 1, spent: { costUsd: 0.4 } },
      { costUsd: 0.6 },
      'maxCostUsd leaves nothing for the start: $0.40 of $1.00 were spent before it, the end needs $0.60, and the next call may take up to $0.50',
    ],
    [{ maxCalls: 5, spent: { calls: 4 } }, { calls: 9 }, 'calls were spent before it, and the end needs 9'],
    [{ maxMinutes: 2 }, { minutes: 2 }, 'maxMinutes is reached: 0 of 2 minutes are over, and 2 are kept for the end'],
  ])('%j of which %j is kept says so', async (limits, part, message) => {
    const budget = createBudget(limits);
    budget.hold({ ...part, ...words });
    await expect(budget.reserve(call)).rejects.toThrow(message);
  });

  it('of minutes ends earlier what is not it', async () => {
    let now = 0;
    const budget = createBudget({ maxMinutes: 2, now: () => now });
    budget.hold({ minutes: 0.5, ...words });
    now = 89_999;
    (await budget.reserve(call)).settle(call);
    now = 90_000;
    await expect(budget.reserve(call)).rejects.toThrow('1.5 of 2 minutes are over, and 0.5 are kept for the end');
    budget.release();
    (await budget.reserve(call)).settle(call);
    now = 120_000;
    await expect(budget.reserve(call)).rejects.toThrow('2 of 2 minutes are over');
  });

  it('sends away who waits for it, and lets go who waited for its release', async () => {
    const budget = createBudget({ maxTotalTokens: 250 });
    const first = await budget.reserve(call);
    await budget.reserve(call);
    const third = budget.reserve(call);
    budget.hold({ totalTokens: 151, ...words });
    await expect(third).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    first.release();
    budget.hold({ totalTokens: 100, ...words });
    const fourth = budget.reserve(call);
    budget.release();
    await fourth;
    expect(budget.left().totalTokens).toBe(50);
  });
});

it('counts what a call did cost when that is more than its bound, and tells', async () => {
  const overruns: unknown[] = [];
  const budget = createBudget({ maxTotalTokens: 150, onOverrun: (overrun) => overruns.push(overrun) });
  const actual = { ...call, totalTokens: 170 };
  (await budget.reserve(call)).settle(actual);
  expect(budget.spent().totalTokens).toBe(170);
  expect(overruns).toEqual([{ reserved: call, actual }]);
});

it('tells of no overrun when a call cost its bound', async () => {
  const overruns: unknown[] = [];
  const budget = createBudget({ onOverrun: (overrun) => overruns.push(overrun) });
  const odd = { ...call, costUsd: 1 / 3 };
  (await budget.reserve(odd)).settle(odd);
  expect(overruns).toEqual([]);
});

describe('a ledger', () => {
  const bill = { input: 30, output: 10, replies: 1, costUsd: 0.2 };
  const actual: Amounts = { calls: 1, totalTokens: 40, costUsd: 0.2 };

  it('has each call at its own most while it is in flight, and at its cost when it is over', async () => {
    const lines: object[] = [];
    const budget = createBudget({ maxCalls: 10_000, ledger: createLedger(nothingSpent, (line) => lines.push(line)) });
    const calls = await Promise.all([budget.reserve(call, [], { stage: 'judge' }), budget.reserve(call)]);
    expect(lines).toMatchObject([
      { id: 1, stage: 'judge', inFlight: call },
      { id: 2, stage: 'other', inFlight: call },
    ]);
    calls[0].settle(actual, bill);
    calls[1].release();
    expect(lines.slice(2)).toMatchObject([{ id: 1, answered: bill }, { id: 2 }]);
    expect(budget.ledger!.spent().counted).toEqual(actual);
  });

  it('says what was spent before, unless the caller does', () => {
    const spent = { ...nothingSpent, counted: call };
    expect(createBudget({ ledger: createLedger(spent) }).spent()).toEqual(call);
    expect(createBudget({ ledger: createLedger(spent), spent: { calls: 7 } }).spent().calls).toBe(7);
  });

  it('keeps apart what failed and what was answered', async () => {
    const ledger = createLedger(nothingSpent);
    const budget = createBudget({ ledger });
    (await budget.reserve(call)).fail(call);
    (await budget.reserve(call)).settle(actual, bill);
    expect(ledger.spent()).toMatchObject({ counted: { calls: 2, totalTokens: 140 }, usage: { other: bill } });
  });

  it('that cannot be written keeps the call from being sent', async () => {
    const full = new Error('disk full');
    const ledger = createLedger(nothingSpent, () => {
      throw full;
    });
    const budget = createBudget({ ledger });
    await expect(budget.reserve(call)).rejects.toBe(full);
    expect(budget.reserved().calls).toBe(0);
  });

  it('has of attempts in stages what was answered and what is in flight, though all of it is set aside', async () => {
    const ledger = createLedger(nothingSpent);
    const budget = createBudget({ maxTotalTokens: 10_000, ledger });
    const whole: Amounts = { calls: 100, totalTokens: 8_000, costUsd: 0 };
    const attempt = await budget.reserve(whole, [], { isInStages: true });
    expect([ledger.atEnd().counted.calls, budget.left().totalTokens]).toEqual([0, 2_000]);
    attempt.reach({}, { calls: 1, totalTokens: 300, costUsd: 0 }); // a call may take as much
    expect(ledger.atEnd().counted).toMatchObject({ calls: 1, totalTokens: 300 });
    attempt.reach({ input: 50, replies: 1 }, { calls: 1, totalTokens: 350, costUsd: 0 }); // it took less, and there is another
    expect(ledger.atEnd().counted).toMatchObject({ calls: 2, totalTokens: 400 });
    expect(ledger.spent().counted).toMatchObject({ calls: 1, totalTokens: 50 });
    attempt.settle({ calls: 2, totalTokens: 120, costUsd: 0 }, { input: 120, replies: 2 });
    attempt.reach({}, { calls: 9, totalTokens: 9_000, costUsd: 0 }); // too late
    expect([budget.spent().totalTokens, budget.left().totalTokens]).toEqual([120, 9_880]);
    expect(ledger.atEnd().counted).toMatchObject({ calls: 2, totalTokens: 120 });
  });
});
