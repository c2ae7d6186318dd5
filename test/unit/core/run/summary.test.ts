import { describe, expect, it } from 'vitest';
import {
  emptyRun,
  type RunState,
  type StepAction,
  type StepRecord,
  summarize,
} from '../../../../src/core/run/index.ts';

const record = (step: number, epoch: number, action: StepAction, currentScore: number, bestScore: number) =>
  ({ step, epoch, action, currentScore, bestScore }) as StepRecord;

const scored = (skill: string, score: number, step: number) => ({
  skill,
  hash: skill,
  score,
  step,
  origin: `step ${step}`,
});
const report = (hard: number) => ({ hard, soft: hard, n: 4, buckets: {} });

const run: RunState = {
  ...emptyRun,
  totalSteps: 6,
  stepsDone: 6,
  current: scored('current', 0.6, 5),
  best: scored('best', 0.8, 3),
  baseline: { hard: 0.5, soft: 0.7, score: 0.55 },
  evaluations: [{ hash: 'best', hard: 0.75, soft: 1 }],
  history: [
    record(1, 1, 'accept_new_best', 0.7, 0.7),
    record(2, 1, 'skip_no_patches', 0.7, 0.7),
    record(3, 1, 'accept_new_best', 0.8, 0.8),
    record(4, 2, 'reject', 0.8, 0.8),
    record(5, 2, 'force_accept', 0.6, 0.8),
    record(6, 2, 'unchanged', 0.6, 0.8),
  ],
  tests: { baseline: report(0.25), best: report(0.75) },
  wallTimeMs: 1500,
  isDone: true,
};

describe('summarize', () => {
  it('counts every step once: accepted, rejected or skipped', () => {
    expect(summarize(run)).toMatchObject({ totalSteps: 6, totalAccepts: 3, totalRejects: 1, totalSkips: 2 });
  });

  it('weakness 14: tells scores of the gate and hard scores apart, and keeps the baseline', () => {
    expect(summarize(run)).toMatchObject({
      bestStep: 3,
      bestSelectionScore: 0.8,
      bestSelectionHard: 0.75,
      baselineSelectionHard: 0.5,
      baselineSelectionScore: 0.55,
      currentSelectionScore: 0.6,
    });
  });

  it('has no score before anything is measured', () => {
    expect(summarize(emptyRun)).toMatchObject({ bestSelectionScore: null, currentSelectionScore: null });
  });

  it('sums up each epoch as it stood at its end', () => {
    expect(summarize(run).epochStats).toEqual([
      { epoch: 1, steps: 3, accepts: 2, rejects: 0, skips: 1, bestScoreAtEpochEnd: 0.8, currentScoreAtEpochEnd: 0.8 },
      { epoch: 2, steps: 3, accepts: 1, rejects: 1, skips: 1, bestScoreAtEpochEnd: 0.8, currentScoreAtEpochEnd: 0.6 },
    ]);
  });

  it('tells what the test split gained', () => {
    expect(summarize(run)).toMatchObject({
      baselineTestHard: 0.25,
      testHard: 0.75,
      testDeltaHard: 0.5,
      totalWallTimeS: 1.5,
    });
  });

  it('says null where nothing was measured, and never zero', () => {
    expect(summarize(emptyRun, { outRoot: 'runs/qa', warnings: ['no test split'] })).toMatchObject({
      isDone: false,
      outRoot: 'runs/qa',
      warnings: ['no test split'],
      baselineSelectionHard: null,
      bestSelectionHard: null,
      baselineTestHard: null,
      testHard: null,
      testDeltaHard: null,
      epochStats: [],
    });
    expect(summarize({ ...run, tests: { baseline: report(0.25) } }).testDeltaHard).toBeNull();
  });
});
