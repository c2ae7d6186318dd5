import fc from 'fast-check';
import { emptyRun, reduce, SkillError } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/core/contracts/index.ts';
import { requireRollouts } from '../../src/train/budget/rollouts-left.ts';
import { affordableSize, fitValidation, rolloutsForAll } from '../../src/train/budget/validation-size.ts';
import { appends, ofType, scriptedRun } from '../support/scripted-run.ts';

const budget = fc.integer({ min: 1, max: 5000 });
const count = fc.nat({ max: 1000 });

describe('how many validation tasks a budget affords', () => {
  it('is never more than there are, and never less than eight of them', () => {
    fc.assert(
      fc.property(budget, count, (rollouts, n) => {
        const size = affordableSize(rollouts, n);
        expect(Number.isInteger(size)).toBe(true);
        expect(size).toBeLessThanOrEqual(n);
        expect(size).toBeGreaterThanOrEqual(Math.min(n, 8));
      }),
    );
  });

  it('never falls when the budget grows', () => {
    fc.assert(
      fc.property(budget, fc.nat({ max: 500 }), count, (rollouts, more, n) => {
        expect(affordableSize(rollouts + more, n)).toBeGreaterThanOrEqual(affordableSize(rollouts, n));
      }),
    );
  });

  it('is all of them from the budget on that is named for it, and from no smaller one', () => {
    for (let n = 0; n <= 600; n++) {
      const least = rolloutsForAll(n);
      expect(affordableSize(least, n), `${n} tasks, ${least} rollouts`).toBe(n);
      if (least > 0) expect(affordableSize(least - 1, n), `${n} tasks, ${least - 1} rollouts`).toBeLessThan(n);
    }
  });
});

describe('the validation tasks that are used', () => {
  const set = fc
    .record({
      types: fc.array(fc.constantFrom('a', 'b', 'c', undefined), { minLength: 1, maxLength: 200, size: 'max' }),
      kept: fc.array(fc.nat({ max: 199 }), { maxLength: 12 }),
    })
    .map(({ types, kept }) => {
      const tasks = types.map((taskType, k) => ({ id: `val-${k}`, ...(taskType ? { taskType } : {}) }));
      const protectedItems = [...new Set(kept.filter((k) => k < tasks.length).map((k) => `val-${k}`))];
      return { tasks, protectedItems };
    });
  const fitted = (tasks: Parameters<typeof fitValidation>[0], config: Parameters<typeof fitValidation>[1]) =>
    fitValidation(tasks, { fitValidation: true, gate: 'paired', ...config });

  it('and the spared ones are the set, each once, in file order, with every protected task among the used', () => {
    fc.assert(
      fc.property(set, budget, fc.integer(), ({ tasks, protectedItems }, maxRollouts, seed) => {
        const { val, spare } = fitted(tasks, { maxRollouts, seed, protectedItems });
        const used = new Set(val);
        expect(val).toEqual(tasks.filter((task) => used.has(task)));
        expect(spare).toEqual(tasks.filter((task) => !used.has(task)));
        expect(val).toHaveLength(Math.max(protectedItems.length, affordableSize(maxRollouts, tasks.length)));
        expect(protectedItems.filter((id) => !val.some((task) => task.id === id))).toEqual([]);
      }),
    );
  });

  it('are of each type in the proportions of the set, but for less than two', () => {
    fc.assert(
      fc.property(set, budget, fc.integer(), ({ tasks }, maxRollouts, seed) => {
        const { val } = fitted(tasks, { maxRollouts, seed });
        const ofType = (list: typeof tasks, type: string | undefined) =>
          list.filter(({ taskType }) => taskType === type).length;
        for (const type of ['a', 'b', 'c', undefined]) {
          const due = (val.length * ofType(tasks, type)) / tasks.length;
          expect(Math.abs(ofType(val as typeof tasks, type) - due), `${type}: due ${due}`).toBeLessThan(2);
        }
      }),
    );
  });
});

describe('a limit that pays for no run', () => {
  const settings = fc.record({
    count: fc.integer({ min: 1, max: 200 }),
    maxRollouts: fc.integer({ min: 1, max: 1600 }),
    prune: fc.boolean(),
    isFitted: fc.boolean(),
    kept: fc.constantFrom(0, 0, 12),
    finalPasses: fc.constantFrom(undefined, undefined, 0, 2, 5),
    gate: fc.constantFrom('paired', 'paired', 'strict'),
  });

  it('is told the least above it that does: that is enough, and one less is not', () => {
    let refused = 0;
    fc.assert(
      fc.property(settings, ({ count, maxRollouts, isFitted, kept, ...others }) => {
        const all = Array.from({ length: count }, (_, k) => ({ id: `val-${k}` }));
        const protectedItems = others.gate === 'paired' ? all.slice(0, kept).map(({ id }) => id) : [];
        const leastAbove = (limit: number): number | undefined => {
          const config = parseConfig({ ...others, protectedItems, fitValidation: isFitted, maxRollouts: limit });
          try {
            requireRollouts(config, fitValidation(all, config));
            return undefined;
          } catch (error) {
            expect(error).toBeInstanceOf(SkillError);
            return Number(/it takes at least (\d+)$/.exec((error as SkillError).message)![1]);
          }
        };
        const named = leastAbove(maxRollouts);
        if (named === undefined) return;
        refused += 1;
        expect(named).toBeGreaterThan(maxRollouts);
        expect(leastAbove(named), `with ${named}`).toBeUndefined();
        expect(leastAbove(named - 1), `with ${named - 1}`).toBe(named);
      }),
      { numRuns: 500 },
    );
    expect(refused).toBeGreaterThan(50);
  });
});

describe('a limit of rollouts', () => {
  /** Marks help with some tasks, and a HARM takes some away: there are wins, losses, races that are not paid for, and removals. */
  const world = fc.record({
    maxRollouts: fc.integer({ min: 40, max: 200 }),
    train: fc.integer({ min: 3, max: 20 }),
    val: fc.integer({ min: 3, max: 45 }),
    batchSize: fc.integer({ min: 2, max: 20 }),
    proposalsPerBatch: fc.integer({ min: 1, max: 3 }),
    start: fc.integer({ min: 0, max: 6 }),
    winEvery: fc.integer({ min: 1, max: 6 }),
    doubtAfter: fc.integer({ min: 0, max: 3 }),
    optimizerRatio: fc.constantFrom(0, 1.5),
    isFitted: fc.boolean(),
    gate: fc.constantFrom('paired', 'paired', 'strict'),
    regressionVeto: fc.boolean(),
    workers: fc.constantFrom(1, 16),
    seed: fc.nat({ max: 1000 }),
  });

  it('is kept, whatever the sizes, the wins and the losses', async () => {
    await fc.assert(
      fc.asyncProperty(world, async ({ start, winEvery, isFitted, train, val, gate, regressionVeto, ...settings }) => {
        const playing = scriptedRun({
          solves: (skill, { k }) =>
            k % 10 < Math.min(9, start + new Set(skill.match(/MARK\d+/g)).size) &&
            !(skill.includes('HARM') && k % 10 === 0),
          sizes: { train, val, test: 2 },
          script: {
            analyst: ({ step, prompt }) =>
              appends(...(step % winEvery ? [] : [`MARK${step}`]), step % 2 ? `Aside ${step} of ${prompt}.` : 'HARM'),
          },
          config: {
            ...{ gate, finalPasses: undefined, fitValidation: isFitted },
            ...{ regressionVeto: regressionVeto && gate === 'paired' },
            ...settings,
          },
        });
        const played = await playing.catch((error) => {
          expect(error).toMatchObject({ code: 'CONFIG_INVALID' }); // too few for a baseline
        });
        if (!played) return;
        const { maxRollouts } = settings;
        const made = played.rollouts.filter(({ id }) => !id.startsWith('test-')).length;
        const { rollouts } = played.store.events.reduce(reduce, emptyRun);
        expect(made).toBeLessThanOrEqual(maxRollouts);
        expect(rollouts).toBeLessThanOrEqual(maxRollouts);
        expect(rollouts).toBeGreaterThanOrEqual(made);
        expect(ofType(played.facts, 'run-end')).toHaveLength(1);
      }),
      { numRuns: 30 },
    );
  });
});
