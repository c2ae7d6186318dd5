import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RunState, type Verdict, verdictOf } from '../../src/core/run/index.ts';
import { tasksToProve } from '../../src/core/stats/index.ts';
import { addObservations, finalReport, noEvidence } from '../../src/public/stats.ts';
import { verdictWords } from '../../src/report/index.ts';
import { runOf, type Told } from '../support/told-run.ts';

const bits = (length: number, chance = 0.5) =>
  fc.array(
    fc.double({ min: 0, max: 1, noNaN: true }).map((x) => Number(x < chance)),
    { minLength: length, maxLength: length },
  );
const told: fc.Arbitrary<Told> = fc
  .tuple(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 40 }),
    fc.constantFrom(0.1, 0.5, 0.9),
    fc.constantFrom(0.1, 0.5, 0.95),
  )
  .chain(([val, tests, before, after]) =>
    fc.record({
      seed: bits(val, before),
      fresh: bits(val, after).map((pass) => [pass]),
      test: fc.option(fc.record({ before: bits(tests, before), after: bits(tests, after) }), { nil: undefined }),
      isChanged: fc.boolean(),
      isDone: fc.boolean(),
      isUnread: fc.constantFrom(false, false, true),
    }),
  );

const LINES = { added: 1, removed: 0 };
const wordsOf = (state: RunState, verdict: Verdict) => {
  const { head, sentence, amounts } = verdictWords(verdict, state, LINES);
  return { head, text: `${sentence} ${amounts}` };
};

describe('the verdict of any run', () => {
  it('is better exactly when the whole interval is above 0 in a run that is over, works and changed something', () => {
    fc.assert(
      fc.property(told, (run) => {
        const state = runOf(run);
        const { kind, comparison } = verdictOf(state);
        const isProven = (comparison?.gain?.interval.low ?? 0) > 0;
        if (kind === 'better')
          expect([isProven, state.isDone, state.best.skill !== state.initialSkill]).toEqual([true, true, true]);
        if (kind === 'worse') expect(comparison!.gain!.interval.high).toBeLessThan(0);
        if (kind === 'not-proven' && comparison?.gain) {
          expect(comparison.gain.interval.low).toBeLessThanOrEqual(0);
          expect(comparison.gain.interval.high).toBeGreaterThanOrEqual(0);
        }
        if (state.isDone && isProven && kind !== 'broken') expect(kind).toBe('better');
        if (!state.isDone) expect(['stopped', 'broken']).toContain(kind);
      }),
    );
  });

  it('speaks of tasks that the search never saw wherever there are any', () => {
    fc.assert(
      fc.property(told, (run) => {
        const { comparison } = verdictOf(runOf(run));
        expect(comparison!.on).toBe(run.test ? 'test' : 'validation');
      }),
    );
  });

  it('has figures that agree: the gain, both scores, and the tasks that turned', () => {
    fc.assert(
      fc.property(told, (run) => {
        const { comparison } = verdictOf(runOf(run));
        const { before, after, gain, gained, lost, tasks, on } = comparison!;
        if (gain) expect(after - before).toBeCloseTo(gain.value, 9);
        if (on === 'test') expect(gained.length - lost.length).toBe(Math.round((after - before) * tasks));
        for (const id of gained) expect(lost).not.toContain(id);
      }),
    );
  });

  it('has words that agree with the figures', () => {
    fc.assert(
      fc.property(told, (run) => {
        const state = runOf(run);
        const verdict = verdictOf(state);
        const { head, text } = wordsOf(state, verdict);
        const { comparison, kind } = verdict;
        expect(`${head}${text}`).not.toMatch(/NaN|undefined|null|Infinity/);
        const saysProven = /(?<!not )proven/.test(text);
        if (kind !== 'stopped') expect(saysProven).toBe(kind === 'better' || kind === 'worse');
        if (kind === 'stopped' && comparison!.gain) expect(saysProven).toBe(comparison!.isProven);
        if (kind === 'better') expect(text).toMatch(/, proven, \+[\d.]*[1-9][\d.]* to \+/);
        if (kind === 'worse') expect(text).toMatch(/, proven, -[\d.]+ to -[\d.]*[1-9]/);
        if (comparison?.gain && kind !== 'broken')
          expect(text).toContain(`${(100 * comparison.before).toFixed(1)} → ${(100 * comparison.after).toFixed(1)} %`);
      }),
    );
  });

  it('names a number of tasks that would prove it, or says that none will', () => {
    fc.assert(
      fc.property(told, (run) => {
        const { kind, tasksToProve: more, comparison } = verdictOf(runOf(run));
        if (kind !== 'not-proven') return;
        if (comparison!.gain!.value <= 0) expect(more).toBeNull();
        if (typeof more === 'number') expect(more).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});

describe('the tasks that would prove a gain', () => {
  /** A third of the tasks gain one half, the rest nothing, as evidence of `n` tasks. */
  const evidence = (n: number, share: number) => {
    const observe = (score: (at: number) => number) =>
      addObservations(
        noEvidence,
        Array.from({ length: n }, (_, at) => ({ id: `${at}`, score: score(at) })),
      );
    return [observe((at) => (at < share * n ? 1 : 0)), observe(() => 0)] as const;
  };

  it('are enough once they are there, and fewer are needed for a larger gain', () => {
    const [few, seed] = evidence(20, 0.1);
    const needed = tasksToProve(few, seed)!;
    expect(needed).toBeGreaterThan(20);
    const [many, seedOfMany] = evidence(needed, 0.1);
    expect(finalReport({ fresh: many, seed: seedOfMany }).isClaimed).toBe(true);
    const [more] = evidence(20, 0.4);
    expect(tasksToProve(more, seed)!).toBeLessThan(needed);
    expect(tasksToProve(seed, seed)).toBeUndefined();
  });
});
