import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRateLimiter } from '../../src/public/models.ts';

const ending = fc.oneof(
  { weight: 5, arbitrary: fc.constant('succeed' as const) },
  { weight: 2, arbitrary: fc.constant('refuse' as const) },
  { weight: 1, arbitrary: fc.constant('ask for a pause' as const) },
  { weight: 1, arbitrary: fc.constant('release' as const) },
);
const call = fc.record({ ending, rest: fc.nat({ max: 5 }), isAborted: fc.boolean() });

it('no call is lost, none starts before an earlier one, and never too many are in flight', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(call, { maxLength: 100 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 20 }),
      async (calls, initial, max) => {
        let time = 0;
        const delay = async (ms: number) => {
          time += ms;
        };
        const limiter = createRateLimiter({ initial, max, now: () => time, delay });
        const started: number[] = [];
        const outcomes = await Promise.allSettled(
          calls.map(async ({ ending, rest, isAborted }, index) => {
            const controller = new AbortController();
            const waiting = limiter.acquire({ signals: [controller.signal] });
            if (isAborted) controller.abort(new Error('stopped')); // after it had its slot, this means nothing
            const slot = await waiting;
            started.push(index);
            expect(limiter.state().inFlight).toBeLessThanOrEqual(max);
            for (let i = 0; i < rest; i++) await Promise.resolve();
            if (ending === 'ask for a pause') slot.refuse(1_000);
            else slot[ending]();
          }),
        );
        expect(limiter.state()).toMatchObject({ inFlight: 0, waiting: 0 });
        expect(started).toEqual([...started].sort((a, b) => a - b));
        const lost = outcomes.flatMap(({ status }, index) =>
          status === 'rejected' && !calls[index]!.isAborted ? [index] : [],
        );
        expect(lost).toEqual([]);
        expect(limiter.state().calls).toBeGreaterThanOrEqual(1);
        expect(limiter.state().calls).toBeLessThanOrEqual(max);
      },
    ),
  );
});
