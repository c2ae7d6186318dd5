import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SkillError } from '../../src/core/contracts/index.ts';
import { createLedger, nothingSpent } from '../../src/core/run/index.ts';
import { type Amounts, type Budget, createBudget } from '../../src/public/models.ts';

const WORKERS = 64;

const bound = fc.record<Amounts>({
  calls: fc.constant(1),
  totalTokens: fc.nat({ max: 1_000 }),
  costUsd: fc.double({ min: 0, max: 0.5, noNaN: true }),
});
/** What a reservation ends in: so much of its bound, or nothing because no attempt was made. */
const ending = fc.oneof(
  fc.record({ share: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.constant('release' as const),
);
const attempt = fc.record({ bound, ending, rests: fc.array(fc.nat({ max: 3 }), { maxLength: 2 }) });
const limits = fc.record({
  maxCalls: fc.option(fc.nat({ max: 150 }), { nil: undefined }),
  maxTotalTokens: fc.option(fc.nat({ max: 20_000 }), { nil: undefined }),
  maxCostUsd: fc.option(fc.double({ min: 0, max: 10, noNaN: true }), { nil: undefined }),
});
const holding = fc.option(
  fc.record({
    calls: fc.nat({ max: 100 }),
    totalTokens: fc.nat({ max: 10_000 }),
    costUsd: fc.double({ min: 0, max: 5, noNaN: true }),
  }),
  { nil: undefined },
);
type Attempt = { bound: Amounts; ending: { share: number } | 'release'; rests: number[] };

it('what is spent and set aside never passes a limit, however 64 workers interleave', async () => {
  await fc.assert(
    fc.asyncProperty(limits, fc.array(attempt, { maxLength: 200 }), async (given, attempts) => {
      const ledger = createLedger(nothingSpent);
      const budget = createBudget({ ...given, ledger });
      const expectSafe = () => expectNoted(budget, ledger.atEnd().counted);
      const seen = { calls: 0 };
      const work = [...attempts];
      await Promise.all(Array.from({ length: WORKERS }, () => worker({ budget, expectSafe }, work, seen)));
      expect(budget.reserved()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
      expect(budget.spent().calls).toBe(seen.calls);
      expect(seen.calls).toBeLessThanOrEqual(given.maxCalls ?? Number.POSITIVE_INFINITY);
    }),
    { numRuns: 100 },
  );
});

it('leaves alone what is kept back, whenever that changes, and keeps nobody waiting for ever', async () => {
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(attempt, { maxLength: 100 }),
      fc.array(holding, { maxLength: 12 }),
      async (given, attempts, holdings) => {
        const budget = createBudget(given);
        const seen = { calls: 0 };
        const work = [...attempts];
        const workers = Array.from({ length: WORKERS }, () => worker({ budget, expectSafe: () => {} }, work, seen));
        for (const part of holdings) {
          if (part) budget.hold({ ...part, purpose: 'one', others: 'another' });
          else budget.release();
          await holdOut(budget, part);
        }
        await Promise.all(workers);
        expect(budget.reserved()).toEqual({ calls: 0, totalTokens: 0, costUsd: 0 });
        expect(budget.spent().calls).toBe(seen.calls);
        for (const name of AMOUNTS) expect(budget.spent()[name]).toBeLessThanOrEqual(budget.limits[name] + 1e-9);
      },
    ),
    { numRuns: 100 },
  );
});

const AMOUNTS = ['calls', 'totalTokens', 'costUsd'] as const;

/** For a while nothing more is set aside than what is left beside the part: only what was before may be in it. */
async function holdOut(budget: Budget, part: Amounts | undefined): Promise<void> {
  const used = (name: keyof Amounts) => budget.spent()[name] + budget.reserved()[name];
  const free = (name: keyof Amounts) => Math.max(used(name), budget.limits[name] - (part?.[name] ?? 0));
  const most = AMOUNTS.map(free);
  for (let turns = 0; turns < 5; turns++) await Promise.resolve();
  for (const [index, name] of AMOUNTS.entries()) expect(used(name)).toBeLessThanOrEqual(most[index]! + 1e-8);
}

type Kept = { budget: Budget; expectSafe: () => void };

async function worker(kept: Kept, work: Attempt[], seen: { calls: number }): Promise<void> {
  for (let next = work.shift(); next !== undefined; next = work.shift()) {
    try {
      await run(kept, next, seen);
    } catch (error) {
      expect(error).toBeInstanceOf(SkillError);
      expect(error).toHaveProperty('code', 'BUDGET_EXHAUSTED');
    }
  }
}

async function run(
  { budget, expectSafe }: Kept,
  { bound, ending, rests }: Attempt,
  seen: { calls: number },
): Promise<void> {
  const reservation = await budget.reserve(bound);
  expectWithin(budget);
  expectSafe();
  for (const rest of rests) for (let i = 0; i < rest; i++) await Promise.resolve();
  if (ending === 'release') reservation.release();
  else {
    seen.calls++;
    reservation.settle({
      calls: 1,
      totalTokens: Math.floor(bound.totalTokens * ending.share),
      costUsd: bound.costUsd * ending.share,
    });
  }
  expectWithin(budget);
}

function expectWithin(budget: Budget): void {
  for (const amount of Object.values(budget.left())) expect(amount).toBeGreaterThanOrEqual(0);
  for (const amount of Object.values(budget.reserved())) expect(amount).toBeGreaterThanOrEqual(0);
}

/** What a killed process would have spent at most is noted: all that is spent and set aside, and no more. */
function expectNoted(budget: Budget, noted: Amounts): void {
  for (const name of AMOUNTS) {
    expect(noted[name]).toBeCloseTo(budget.spent()[name] + budget.reserved()[name], 6);
    expect(noted[name]).toBeLessThanOrEqual(budget.limits[name] + 1e-6);
  }
}
