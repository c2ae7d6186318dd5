import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../../src/core/contracts/index.ts';
import {
  addStageUsage,
  emptyRun,
  isAccepted,
  noStageUsage,
  type RunEvent,
  type RunFact,
  type RunState,
  reduce,
  type StageUsage,
  type StepAction,
} from '../../../../src/core/run/index.ts';
import { skillHash } from '../../../../src/core/text/index.ts';
import { STRICT } from '../../../support/strict-gate.ts';

const stamp = { at: '2026-01-01T00:00:00.000Z', ms: 0, usage: {} };
const fold = (facts: readonly (RunFact | RunEvent)[], state: RunState = emptyRun) =>
  facts.reduce<RunState>((before, fact) => reduce(before, { ...stamp, ...fact }), state);

const evaluation = (hard: number, soft = hard) => ({ hard, soft, scores: [{ id: 'v', hard, soft }] });
const usage = (replies: number): StageUsage => {
  return { ...noStageUsage, input: 10 * replies, output: replies, replies };
};

const start: RunFact = {
  type: 'run-start',
  format: 1,
  identity: {},
  config: parseConfig(STRICT),
  env: 'qa',
  target: 't',
  optimizer: 'o',
  initialSkill: 'seed',
  totalSteps: 2,
  items: { train: 2, val: 1, test: 1 },
};
const baseline: RunFact = { type: 'baseline-end', evaluation: evaluation(0.5), score: 0.5 };

/** The facts of one step whose candidate is `skill`. */
function step(number: number, skill: string, action: StepAction, score: number, measured = true): RunFact[] {
  const at = { type: 'stage-end', step: number } as const;
  const edit = { op: 'append', target: '', content: skill, supportCount: 3, mergeLevel: 1 } as const;
  const patch = { edits: [edit], reasoning: 'because' };
  const row = { index: 1, op: 'append', target: '', contentPreview: skill, status: 'applied_append' } as const;
  return [
    { type: 'step-start', step: number, epoch: 1, stepInEpoch: number, editBudget: 4, seed: 1, itemIds: ['a', 'b'] },
    { ...at, stage: 'rollout', evaluation: evaluation(0.25, 0.75) },
    {
      ...at,
      stage: 'reflect',
      patches: [
        { patch, sourceType: 'failure', batchSize: 2 },
        { patch, sourceType: 'success', batchSize: 1 },
      ],
    },
    { ...at, stage: 'aggregate', patch },
    { ...at, stage: 'select', patch },
    { ...at, stage: 'update', candidateSkill: skill, candidateHash: skillHash(skill), report: [row] },
    { ...at, stage: 'evaluate', evaluation: measured ? evaluation(score) : null, score, action },
    { type: 'step-end', step: number, action },
  ];
}

describe('reduce', () => {
  it('starts with the seed skill, unscored', () => {
    const state = fold([start]);
    const seed = { skill: 'seed', hash: skillHash('seed'), score: 0, step: 0 };
    expect(state).toMatchObject({
      totalSteps: 2,
      initialSkill: 'seed',
      current: seed,
      best: seed,
      startedAt: stamp.at,
    });
    expect(state.baseline).toBeUndefined();
  });

  it('takes the baseline for current and best, and remembers what was measured', () => {
    const state = fold([start, baseline]);
    expect(state.current).toMatchObject({ skill: 'seed', score: 0.5, step: 0 });
    expect(state.best).toEqual(state.current);
    expect(state.evaluations).toEqual([{ hash: skillHash('seed'), hard: 0.5, soft: 0.5 }]);
  });

  it('weakness 3: a baseline of zero is a score, not a missing one', () => {
    const state = fold([start, { ...baseline, evaluation: evaluation(0), score: 0 } as RunFact]);
    expect(state.baseline).toEqual({ hard: 0, soft: 0, score: 0 });
  });

  it('makes one record of a step', () => {
    const { history, draft, stepsDone } = fold([start, baseline, ...step(1, 'better', 'accept_new_best', 0.75)]);
    expect([stepsDone, draft]).toEqual([1, {}]);
    expect(history).toEqual([
      {
        accumulationBatches: [
          {
            ...{ batchIdx: 0, batchSeed: 1, nEnvs: 2, hard: 0.25, soft: 0.75 },
            ...{ nFailurePatches: 1, nSuccessPatches: 1 },
          },
        ],
        step: 1,
        epoch: 1,
        stepInEpoch: 1,
        action: 'accept_new_best',
        editBudget: 4,
        rolloutHard: 0.25,
        rolloutSoft: 0.75,
        rolloutN: 2,
        nPatches: 2,
        nFailurePatches: 1,
        nSuccessPatches: 1,
        nEditsMerged: 1,
        nEditsRanked: 1,
        supportCounts: [3],
        analystCounts: [2],
        candidateHash: skillHash('better'),
        candidateSkillLen: 6,
        edits: [{ op: 'append', target: '', content: 'better' }],
        editStatuses: ['applied_append'],
        editEffects: [{ gain: expect.any(Number), measuredBy: 'own_step', tasks: expect.any(Number) }],
        selectionHard: 0.75,
        selectionSoft: 0.75,
        candidateGateScore: 0.75,
        scoreBefore: 0.5,
        currentScore: 0.75,
        bestScore: 0.75,
        bestStep: 1,
        currentOrigin: 'step_0001',
        bestOrigin: 'step_0001',
        skillLen: 6,
        timing: { rollout: 0, reflect: 0, aggregate: 0, select: 0, update: 0, evaluate: 0 },
        tokens: {},
        wallTimeS: 0,
      },
    ]);
  });

  const cases: [StepAction, string, string][] = [
    ['accept_new_best', 'candidate', 'candidate'],
    ['accept', 'candidate', 'seed'],
    ['force_accept', 'candidate', 'candidate'],
    ['reject', 'seed', 'seed'],
    ['unchanged', 'seed', 'seed'],
    ['skip_no_patches', 'seed', 'seed'],
  ];
  it.each(cases)('%s leaves %s as current and %s as best', (action, current, best) => {
    const state = fold([start, baseline, ...step(1, 'candidate', action, 0.75)]);
    expect([state.current.skill, state.best.skill]).toEqual([current, best]);
    expect(isAccepted(action)).toBe(current === 'candidate');
  });

  it('gives a candidate that was measured before its known scores', () => {
    const state = fold([
      start,
      baseline,
      ...step(1, 'other', 'reject', 0.25),
      ...step(2, 'other', 'reject', 0.25, false),
    ]);
    expect(state.history[1]).toMatchObject({ selectionHard: 0.25, selectionSoft: 0.25 });
  });

  it('adds up times and tokens, per stage for the step and over all for the run', () => {
    const [first, rollout, reflect, ...rest] = step(1, 'x', 'reject', 0);
    const state = fold([
      { ...start, ...stamp, ms: 5 },
      baseline,
      first!,
      { ...rollout!, ...stamp, ms: 1000, usage: { rollout: usage(2) } } as RunEvent,
      { ...reflect!, ...stamp, ms: 500, usage: { analyst: usage(1), rollout: usage(1) } } as RunEvent,
      ...rest,
    ]);
    expect(state.usage).toEqual({ rollout: usage(3), analyst: usage(1) });
    expect(state.wallTimeMs).toBe(1505);
    const [record] = state.history;
    expect(record).toMatchObject({ tokens: state.usage, timing: { rollout: 1000, reflect: 500 }, wallTimeS: 1.5 });
  });

  it('keeps a test of baseline and best, with buckets', () => {
    const scores = [{ id: 'x', hard: 1, soft: 1, taskType: 'dates' }];
    const test = {
      type: 'test-end',
      subject: 'best',
      evaluation: { hard: 1, soft: 1, scores },
      taskTypes: ['sums'],
    } as const;
    const state = fold([start, baseline, test, { ...test, subject: 'baseline' }, { type: 'run-end' }]);
    expect(Object.keys(state.tests)).toEqual(['best', 'baseline']);
    expect(state.tests.best).toMatchObject({ hard: 1, n: 1, buckets: { dates: { total: 1 }, sums: { total: 0 } } });
    expect(state.isDone).toBe(true);
  });

  it('does not change the state it was given', () => {
    const before = fold([start, baseline]);
    const copy = structuredClone(before);
    fold(step(1, 'better', 'accept', 0.75), before);
    expect(before).toEqual(copy);
  });

  it('passes over an event of a later version', () => {
    const before = fold([start, baseline]);
    const later = { ...stamp, type: 'dream-end', skill: 'x' } as unknown as RunEvent;
    const stage = { ...stamp, type: 'stage-end', step: 1, stage: 'dream' } as unknown as RunEvent;
    expect(reduce(before, later)).toEqual(before);
    expect(reduce(before, stage).current).toEqual(before.current);
  });
});

describe('addStageUsage', () => {
  it('adds stage by stage and leaves both tables alone', () => {
    const [a, b] = [{ rollout: usage(1) }, { rollout: usage(2), merge: usage(1) }];
    expect(addStageUsage(a, b)).toEqual({ rollout: usage(3), merge: usage(1) });
    expect([a, b]).toEqual([{ rollout: usage(1) }, { rollout: usage(2), merge: usage(1) }]);
  });
});
