import { memoryRun } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { appends, byLevel, levelOf, ofType, scriptedRun } from '../scripted-run.ts';

const run = (config: Parameters<typeof scriptedRun>[0]['config'], script = upByOne, store = memoryRun()) =>
  scriptedRun({
    solves: byLevel,
    sizes: { train: 6, val: 6, test: 0 },
    script,
    config: { numEpochs: 1, batchSize: 3, proposalsPerBatch: 3, evalTest: false, ...config },
    store,
  });

type Script = NonNullable<Parameters<typeof scriptedRun>[0]['script']>;
const upByOne: Script = { analyst: ({ user }) => appends(`LEVEL=${levelOf(user) + 1}`) };
const useless: Script = { analyst: ({ step }) => appends(`A remark of step ${step}.`) };

describe('several proposals of one batch', () => {
  it('are steps of their own, with the same tasks and other seeds', async () => {
    const starts = ofType((await run({}, useless)).facts, 'step-start');
    expect(starts.map(({ step, stepInEpoch, proposal = 1 }) => [step, stepInEpoch, proposal])).toEqual([
      [1, 1, 1],
      [2, 2, 2],
      [3, 3, 3],
      [4, 4, 1],
      [5, 5, 2],
      [6, 6, 3],
    ]);
    const tasks = starts.map(({ itemIds }) => itemIds.join());
    expect(new Set(tasks.slice(0, 3)).size).toBe(1);
    expect(new Set(tasks.slice(3)).size).toBe(1);
    expect(tasks[0]).not.toBe(tasks[3]);
    expect(new Set(starts.map(({ seed }) => seed)).size).toBe(6);
    expect([starts[0]!.seed, starts[3]!.seed]).toEqual([42 + 1000 + 1, 42 + 1000 + 2]); // as without further proposals
  });

  it('cost no further rollouts while the skill stays', async () => {
    const { rollouts } = await run({}, useless);
    const training = rollouts.filter(({ id }) => id.startsWith('train'));
    expect(training).toHaveLength(6);
  });

  it('roll the batch out again once the skill has changed', async () => {
    const { rollouts, facts } = await run({});
    const accepted = ofType(facts, 'step-end').filter(({ action }) => action === 'accept_new_best').length;
    expect(accepted).toBeGreaterThan(1);
    const skills = new Set(rollouts.filter(({ id }) => id.startsWith('train')).map(({ skill }) => skill));
    expect(skills.size).toBeGreaterThan(2);
  });

  it('ask the analysts for another draw each time', async () => {
    const { requests } = await run({ minibatchSize: 8, useStepBuffer: false }, useless);
    const draws = requests.optimizer.filter(({ stage }) => stage === 'analyst').map(({ sampleIndex }) => sampleIndex);
    expect([...new Set(draws)]).toEqual([0, 1, 2]);
  });

  it('are counted in the plan, and are one under the protocol of the paper', async () => {
    const planned = async (config: object) => ofType((await run(config, useless)).facts, 'run-start')[0]!.totalSteps;
    expect(await planned({})).toBe(6);
    expect(await planned({ numEpochs: 2, accumulation: 2 })).toBe(6);
    expect(await planned({ proposalsPerBatch: 1 })).toBe(2);
    expect(await planned({ preset: 'paper', proposalsPerBatch: undefined })).toBe(2);
  });
});
