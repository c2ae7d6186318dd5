import { describe, expect, it } from 'vitest';
import { attemptOf } from '../../../src/app/index.ts';
import { emptyRun, type StepRecord } from '../../../src/core/run/index.ts';

const attempt = (part: string) => ({ part, step: 1, result: { id: 'q1', hard: 0, soft: 0 } });
const attempts = [attempt('step 1, the candidate'), attempt('step 1, a part of the patch')];
const stateAfter = (record: Partial<StepRecord>) => ({
  ...{ ...emptyRun, stepsDone: 1 },
  history: [{ step: 1, ...record } as StepRecord],
});

describe('the attempt of a step', () => {
  it('is the one of its candidate', () => {
    expect(attemptOf('1', attempts, stateAfter({}))).toBe(attempts[0]);
  });

  it('is not the one of a candidate that lost, where a part of its patch was kept', () => {
    expect(() => attemptOf('1', attempts, stateAfter({ salvagedEdits: [0] }))).toThrow(
      'no attempt at this task was made with the version 1 of the skill',
    );
  });
});
