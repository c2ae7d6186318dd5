import { ModelCallError, memoryRun, type RolloutOutput, type SkillEnv, type SkillOptConfigInput } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import type { ReflectContext, RolloutManyContext } from '../../../src/core/contracts/index.ts';
import { expectEvery } from '../../support/expect-every.ts';
import {
  appends,
  byLevel,
  levelOf,
  ofStage,
  ofType,
  type Script,
  scriptedRun,
  type Task,
} from '../../support/scripted-run.ts';

const config: SkillOptConfigInput = {
  numEpochs: 2,
  batchSize: 5,
  minibatchSize: 5,
  lrScheduler: 'cosine',
};
const upward: Script = { analyst: ({ step }) => appends(`LEVEL=${step}`) };

type Options = Partial<Parameters<typeof scriptedRun>[0]>;

const run = (hooks: Partial<SkillEnv<Task>>, { config: more, ...options }: Options = {}) =>
  scriptedRun({ solves: byLevel, script: upward, hooks, config: { ...config, ...more }, ...options });

describe('an environment that attempts a batch at once', () => {
  const batching = (toOutput: (hard: number, id: string) => RolloutOutput) => {
    const asked: Pick<RolloutManyContext<Task>, 'phase' | 'sampleIndex' | 'items'>[] = [];
    const rolloutMany = async ({ items, skill, phase, sampleIndex }: RolloutManyContext<Task>) => {
      asked.push({ items, phase, sampleIndex });
      return items.map((item) => toOutput(byLevel(skill, item) ? 1 : 0, item.id));
    };
    return { asked, rolloutMany };
  };

  it('is given the items that are not known yet, with what they are for', async () => {
    const { asked, rolloutMany } = batching((hard) => ({ hard, soft: hard, conversation: [{ content: 'x' }] }));
    const never = async () => Promise.reject(new Error('one by one'));
    const { facts } = await run({ rolloutMany, rolloutOne: never });
    expect(asked.slice(0, 3).map(({ phase, items }) => `${phase} ${items.length}`)).toEqual([
      ...['eval 10', 'train 5', 'eval 10'],
    ]);
    expectEvery(asked, ({ sampleIndex }) => sampleIndex === 0);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(Array(4).fill('accept_new_best'));
  });

  it('may answer in any order when its results have ids', async () => {
    const { rolloutMany } = batching((hard, id) => ({ id, hard, soft: hard }));
    const reversed = async (context: RolloutManyContext<Task>) => (await rolloutMany(context)).toReversed();
    const [inOrder, backwards] = [await run({ rolloutMany }), await run({ rolloutMany: reversed })];
    expect(backwards.facts).toEqual(inOrder.facts);
  });

  it('must answer for every item', async () => {
    const rolloutMany = async () => [{ id: 'val-0', hard: 1, soft: 1 }];
    await expect(run({ rolloutMany })).rejects.toMatchObject({
      code: 'ENV_INVALID',
      message: expect.stringContaining('no result for val-1'),
    });
  });

  it('resumes without attempting anything twice', async () => {
    const { asked, rolloutMany } = batching((hard) => ({ hard, soft: hard }));
    const store = memoryRun();
    const whole = await run({ rolloutMany }, { store });
    (store.events as unknown[]).length = 9;
    asked.length = 0;
    const rest = await run({ rolloutMany }, { store });
    expect(rest.facts).toEqual(whole.facts);
    expect(asked).toEqual([]);
  });
});

describe('an environment with analysts of its own', () => {
  it('is given results, budget and seed, and its proposals are used', async () => {
    const seen: ReflectContext[] = [];
    const { facts, calls } = await run({
      async reflect(context) {
        seen.push(context);
        const content = `LEVEL=${levelOf(context.skill) + 2}`;
        return [
          null,
          {
            patch: { reasoning: '', edits: [{ op: 'append', content, target: '' }] },
            sourceType: 'failure',
            batchSize: 5,
          },
        ];
      },
    });
    expect(seen.map(({ seed, editBudget, results }) => [seed, editBudget, results.length])).toEqual([
      [1043, 4, 5],
      [1044, 3, 5],
      [2043, 2, 5],
      [2044, 2, 5],
    ]);
    expect(calls, 'the shared analysts are not asked').toEqual([]);
    expect(ofStage(facts, 'evaluate').map(({ score }) => score)).toEqual([0.3, 0.5, 0.7, 0.9]);
  });

  it('may ask the shared ones', async () => {
    const shared = await run({});
    const own = await run({ reflect: ({ reflectByDefault }) => reflectByDefault() });
    expect(own.facts).toEqual(shared.facts);
  });

  it('has its calls to the optimizer counted', async () => {
    const { summary } = await run({
      async reflect({ optimizer }) {
        await optimizer.complete({
          messages: [
            { role: 'user', content: 'a' },
            { role: 'user', content: 'b' },
          ],
          stage: 'own',
        });
        return [];
      },
    });
    expect(summary.tokenSummary.own).toMatchObject({ replies: 4, cacheHits: 3 });
  });
});

describe('the life of an environment', () => {
  const life = () => {
    const log: string[] = [];
    const hooks: Partial<SkillEnv<Task>> = {
      setup: ({ batchSize }) => void log.push(`setup ${batchSize}`),
      close: async () => void log.push('close'),
      getInitialSkill: () => {
        log.push('initial skill');
        return 'LEVEL=0';
      },
    };
    return { log, hooks };
  };

  it('begins with its config before anything is asked, and ends once', async () => {
    const { log, hooks } = life();
    await run(hooks);
    expect(log).toEqual(['setup 5', 'initial skill', 'close']);
  });

  it('ends also when the run fails', async () => {
    const { log, hooks } = life();
    const dead = scripted('target', () => {
      throw new ModelCallError('401: key refused', { status: 401 });
    });
    await expect(run(hooks, { options: { target: dead } })).rejects.toThrow('401');
    expect(log.at(-1)).toBe('close');
  });

  it('may divide its tasks itself', async () => {
    const plans: unknown[] = [];
    const { facts } = await run({
      planTrainEpoch({ epoch, batches, batchSize, seed }) {
        plans.push([epoch, batches, batchSize, seed]);
        const task = (k: number) => ({ id: `train-${k}`, k });
        return [[task(epoch), task(9)], [task(5)]];
      },
    });
    expect(plans).toEqual([
      [1, 2, 5, 42],
      [2, 2, 5, 42],
    ]);
    expect(ofType(facts, 'step-start').map(({ itemIds }) => itemIds.join(' '))).toEqual([
      ...['train-1 train-9', 'train-5', 'train-2 train-9', 'train-5'],
    ]);
  });
});

describe('how much of the data is used', () => {
  it('is the first tasks of a split with selEnvNum and testEnvNum, in their order', async () => {
    const { facts } = await run({}, { config: { selEnvNum: 3, testEnvNum: 2 } });
    const [baseline] = ofType(facts, 'baseline-end');
    expect(baseline!.evaluation.scores.map(({ id }) => id)).toEqual(['val-0', 'val-1', 'val-2']);
    expect(ofType(facts, 'test-end')[0]!.evaluation.scores.map(({ id }) => id)).toEqual(['test-0', 'test-1']);
    expect(ofType(facts, 'run-start')[0]!.items).toEqual({ train: 10, val: 3, test: 2 });
  });

  it('must be what trainSize says', async () => {
    await run({}, { config: { trainSize: 10 } });
    await expect(run({}, { config: { trainSize: 12 } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('trainSize is 12, but the data has 10'),
    });
  });
});

describe('a run without a gate', () => {
  it('takes every candidate, and still knows the best', async () => {
    const levels = [4, 2, 6, 1];
    const { facts, summary, store } = await run(
      {},
      { config: { useGate: false }, script: { analyst: ({ step }) => appends(`LEVEL=${levels[step - 1]}`) } },
    );
    expect(ofStage(facts, 'evaluate').map(({ score, action }) => `${score} ${action}`)).toEqual([
      ...['0.5 force_accept', '0.3 force_accept', '0.7 force_accept', '0.2 force_accept'],
    ]);
    expect(summary).toMatchObject({ bestStep: 3, bestSelectionHard: 0.7, finalSelectionHard: 0.2, totalAccepts: 4 });
    expect(levelOf(store.views['current_skill.md']!)).toBe(1);
    expect([summary.testHard, summary.finalTestHard]).toEqual([0.7, 0.2]);
  });
});
