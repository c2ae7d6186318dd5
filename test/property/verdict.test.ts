import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Evaluation, parseConfig } from '../../src/core/contracts/index.ts';
import {
  emptyRun,
  type RunEvent,
  type RunFact,
  type RunState,
  reduce,
  toEvidence,
  type Verdict,
  verdictOf,
} from '../../src/core/run/index.ts';
import { tasksToProve } from '../../src/core/stats/index.ts';
import { addObservations, finalReport, noEvidence } from '../../src/public/stats.ts';
import { verdictWords } from '../../src/report/index.ts';

const stamp = { at: '2026-01-01T00:00:00.000Z', ms: 10, usage: {} };
const toEvent = (fact: RunFact) => ({ ...stamp, ...fact }) as RunEvent;

const evaluation = (passed: readonly boolean[], name: string): Evaluation => {
  const scores = passed.map((isRight, at) => ({ id: `${name}-${at}`, hard: Number(isRight), soft: Number(isRight) }));
  const hard = passed.filter(Boolean).length / Math.max(1, passed.length);
  return { hard, soft: hard, scores };
};

type Told = {
  readonly seed: readonly boolean[];
  readonly fresh: readonly boolean[];
  readonly test: { readonly before: readonly boolean[]; readonly after: readonly boolean[] } | undefined;
  readonly isChanged: boolean;
  readonly isDone: boolean;
  readonly isUnread: boolean;
};

/** A run by its journal: the seed, a winner that was measured again, and perhaps the test. */
function runOf({ seed, fresh, test, isChanged, isDone, isUnread }: Told): RunState {
  const items = { train: 4, val: seed.length, test: test?.before.length ?? 0 };
  const config = parseConfig({});
  const start = { type: 'run-start', format: 1, identity: {}, config, env: 'e', target: 't', optimizer: 'o' } as const;
  const begun = [
    { ...start, initialSkill: '# A\n', totalSteps: 4, items },
    { type: 'baseline-end', evaluation: evaluation(seed, 'val'), score: evaluation(seed, 'val').hard },
  ]
    .map((fact) => toEvent(fact as RunFact))
    .reduce(reduce, emptyRun);
  const won = { ...begun.best, skill: '# A\n- b\n', hash: 'won', origin: 'step_0001', score: 0.5 };
  const searched: RunState = {
    ...begun,
    stepsDone: 1,
    ...(isChanged ? { best: won } : {}),
    ...(isUnread ? { answers: { analyst: { read: 0, unreadable: 3 } } } : {}),
    ...(isDone ? { final: { hard: 0, soft: 0, score: 0 } } : {}),
  };
  const passes = [evaluation(fresh, 'val')];
  const evidence = addObservations(
    noEvidence,
    passes[0]!.scores.map(({ id, hard }) => ({ id, score: hard })),
  );
  const report = finalReport({ fresh: evidence, seed: toEvidence(begun.gate.seed), isSeed: !isChanged });
  const end = [
    { type: 'final-measurement-end', hash: searched.best.hash, passes, ...report },
    ...(test
      ? [
          { type: 'test-end', subject: 'baseline', evaluation: evaluation(test.before, 'test'), taskTypes: [] },
          {
            type: 'test-end',
            subject: 'best',
            evaluation: evaluation(isChanged ? test.after : test.before, 'test'),
            taskTypes: [],
          },
        ]
      : []),
    ...(isDone ? [{ type: 'run-end' }] : []),
  ];
  return end.map((fact) => toEvent(fact as RunFact)).reduce(reduce, searched);
}

const bits = (length: number, chance = 0.5) =>
  fc.array(
    fc.double({ min: 0, max: 1, noNaN: true }).map((x) => x < chance),
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
      fresh: bits(val, after),
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
