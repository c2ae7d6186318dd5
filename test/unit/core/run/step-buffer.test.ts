import { memoryRun, type RunState, type SkillOptConfigInput, skillHash } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import {
  appends,
  byLevel,
  type Call,
  ofStage,
  ofType,
  type Script,
  scriptedRun,
} from '../../../support/scripted-run.ts';
import { DEFAULT_GATE } from '../../../support/strict-gate.ts';

const config: SkillOptConfigInput = {
  numEpochs: 2,
  batchSize: 5,
  minibatchSize: 5,
  stepBufferScope: 'epoch',
  retryRejectedEdits: false,
};

/** Analysts who want the same useless rule again and again, and name what they have seen. */
const stubborn: Script = {
  analyst: ({ prompt }) => ({
    ...appends('Be careful.'),
    ...(prompt === 'analyst_error'
      ? {
          failure_summary: [
            { failure_type: 'too low', description: 'level missing', task_ids: ['train-6', 'train-9'] },
          ],
        }
      : {}),
  }),
};

type Options = Partial<Parameters<typeof scriptedRun>[0]>;

async function run({ config: more, ...options }: Options = {}) {
  const states: RunState[] = [];
  const watcher = {
    onEvent: (event: { type: string }, state: RunState) => event.type === 'step-end' && states.push(state),
  };
  const ran = await scriptedRun({
    solves: byLevel,
    initialSkill: 'LEVEL=0\n',
    failReason: ({ k }) => `needs a level: ${k}`,
    script: stubborn,
    ...options,
    options: { ...options.options, observers: [watcher as never] },
    config: { ...config, ...more },
  });
  return { ...ran, states };
}

const analystsOf = (calls: readonly Call[], step: number) =>
  calls.filter((call) => call.step === step && call.stage === 'analyst');

describe('the step buffer', () => {
  it('holds what failed, with counts and tasks, and the rejected edits with the score before and after', async () => {
    const { states } = await run();
    expect(states[0]!.stepBuffer).toEqual([
      {
        step: 1,
        action: 'reject',
        nTotal: 5,
        nFail: 5,
        failurePatterns: [
          { type: 'needs a level', count: 3, taskIds: ['train-4', 'train-1', 'train-7'] },
          { type: 'too low', count: 2, taskIds: ['train-6', 'train-9'], description: 'level missing' },
        ],
        scoreBefore: 0.1,
        scoreAfter: 0.1,
        rejectedEdits: [{ op: 'append', target: '', content: 'Be careful.' }],
      },
    ]);
  });

  it('is told to the analysts of later steps of the same epoch, and to nobody in the next', async () => {
    const { calls, states } = await run();
    expect(analystsOf(calls, 1)[0]!.user).not.toContain('Earlier steps');
    expect(analystsOf(calls, 2)[0]!.user).toContain(
      [
        'step 1: REJECT, 5 of 5 tasks failed',
        '- needs a level ×3 (train-4, train-1, train-7)',
        '- too low ×2: level missing (train-6, train-9)',
        'rejected, score 0.1000 before, 0.1000 with these:',
        '  1. {"op":"append","content":"Be careful."}',
      ].join('\n'),
    );
    expect(analystsOf(calls, 3)[0]!.user).not.toContain('Earlier steps');
    expect(states.map(({ stepBuffer }) => stepBuffer.map(({ step }) => step))).toEqual([[1], [1, 2], [3], [3, 4]]);
  });

  it('is told to the rewriter and to who decides the learning rate too', async () => {
    const suggestion = { type: 'add', title: 'care', instruction: 'say care' };
    const { calls } = await run({
      config: { lrControlMode: 'autonomous', skillUpdateMode: 'rewrite_from_suggestions', retryRejectedEdits: true },
      script: {
        analyst: () => ({ patch: { revise_suggestions: [suggestion] } }),
        lr_autonomous: () => ({ learning_rate: 1 }),
        rewrite: ({ step }) => ({ new_skill: `LEVEL=0\n\nversion ${step}` }),
      },
    });
    const informed = calls.filter(({ user }) => user.includes('step 1: REJECT'));
    expect(informed.map(({ step, stage }) => `${step} ${stage}`)).toEqual([
      ...['2 analyst', '2 analyst', '2 lr_autonomous', '2 rewrite'],
    ]);
  });

  it('keeps a rejected edit from being tried again word for word in its epoch', async () => {
    const { facts } = await run();
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual([
      ...['reject', 'skip_no_patches', 'reject', 'skip_no_patches'],
    ]);
  });

  it('lets a changed edit through', async () => {
    const { facts } = await run({ script: { analyst: ({ step }) => appends(`Be careful ${step} times.`) } });
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(Array(4).fill('reject'));
  });

  it('lets it through as it was with retryRejectedEdits, which measures nothing twice', async () => {
    const { facts } = await run({ config: { retryRejectedEdits: true } });
    const verdicts = ofStage(facts, 'evaluate').map(({ action, evaluation }) => [action, evaluation !== null]);
    expect(verdicts).toEqual([
      ['reject', true],
      ['reject', false],
      ['reject', false],
      ['reject', false],
    ]);
  });

  it('is not told when it is off, and then forbids nothing', async () => {
    const { calls, facts } = await run({ config: { useStepBuffer: false } });
    expect(calls.filter(({ user }) => user.includes('Earlier steps'))).toEqual([]);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(Array(4).fill('reject'));
  });

  it('survives a resume', async () => {
    const whole = await run();
    const cut = whole.facts.findIndex((fact) => fact.type === 'step-end') + 1;
    const rest = await run({ store: memoryRun(whole.store.events.slice(0, cut)) });
    expect(analystsOf(rest.calls, 2)).toEqual(analystsOf(whole.calls, 2));
    expect(rest.facts).toEqual(whole.facts);
  });

  it('remembers a step that changed nothing as well', async () => {
    const { calls } = await run({ script: { analyst: () => ({ patch: { edits: [] } }) } });
    expect(analystsOf(calls, 2)[0]!.user).toContain('step 1: SKIP_NO_PATCHES, 5 of 5 tasks failed');
  });

  it('does not hold against an edit that there was no room to try it', async () => {
    const long = 'word '.repeat(100).trim();
    const { states } = await run({
      config: { maxSkillTokens: 50 },
      script: { analyst: () => appends('Be careful.', long) },
    });
    expect(states[0]!.stepBuffer[0]!.rejectedEdits!.map(({ content }) => content)).toEqual(['Be careful.']);
  });

  describe('that is kept over the epochs, as by default', () => {
    const byDefault = { stepBufferScope: undefined, retryRejectedEdits: undefined };

    it('is told in the next epoch too, and forbids nothing', async () => {
      const { calls, facts } = await run({ config: byDefault });
      expect(analystsOf(calls, 3)[0]!.user).toContain('step 1: REJECT, 5 of 5 tasks failed');
      expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(Array(4).fill('reject'));
    });

    it('holds the last eight steps', async () => {
      const { calls, states } = await run({ config: { ...byDefault, numEpochs: 5 } });
      expect(states.at(-1)!.stepBuffer.map(({ step }) => step)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
      const [{ user }] = analystsOf(calls, 10) as [Call, ...Call[]];
      expect(user).toContain('step 2: REJECT');
      expect(user).not.toContain('step 1: REJECT');
    });

    it('says of a candidate that nobody knows', async () => {
      // Each attempt is a coin, whatever the skill: no candidate is surely worse, and none is better.
      const coin = scripted('coin', (request) => String(Number(skillHash(JSON.stringify(request)) < '8')));
      const { calls, states } = await run({
        config: { ...byDefault, ...DEFAULT_GATE },
        options: { target: coin },
        sizes: { val: 40 },
        script: { analyst: ({ step }) => appends(`Remark ${step}.`) },
      });
      const undecided = states.flatMap(({ stepBuffer }) => stepBuffer).find((entry) => entry.undecided)!;
      const { met, total } = undecided.undecided!;
      expect(total).toBe(40);
      const later = analystsOf(calls, undecided.step + 1)[0]!.user;
      expect(later).toContain(`step ${undecided.step}: UNDECIDED`);
      expect(later).toContain(`undecided after ${met} of 40 tasks (may be proposed again, better put or alone):`);
    });
  });
});
