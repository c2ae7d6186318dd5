import { memoryRun } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { appends, byLevel, levelOf, ofType, scriptedRun } from '../../../support/scripted-run.ts';

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

  it('end with the first that is accepted: the next batch follows, under the new skill', async () => {
    const { rollouts, facts } = await run({ numEpochs: 2 });
    const ends = ofType(facts, 'step-end').map(({ action }) => action);
    expect(ends).toEqual(Array(4).fill('accept_new_best'));
    const starts = ofType(facts, 'step-start');
    expect(starts.map(({ proposal = 1 }) => proposal)).toEqual([1, 1, 1, 1]);
    expect(new Set(starts.map(({ itemIds }) => itemIds.join())).size).toBe(4);
    const training = rollouts.filter(({ id }) => id.startsWith('train'));
    expect(training).toHaveLength(4 * 3);
    expect(new Set(training.map(({ skill }) => skill)).size).toBe(4);
  });

  it('go on after a loss, and end with the win that follows', async () => {
    const late: Script = { analyst: ({ step }) => appends(step === 2 ? 'LEVEL=5' : `A remark of step ${step}.`) };
    const starts = ofType((await run({}, late)).facts, 'step-start');
    expect(starts.map(({ proposal = 1 }) => proposal)).toEqual([1, 2, 1, 2, 3]);
    expect(starts.map(({ step, stepInEpoch }) => [step, stepInEpoch])).toEqual([1, 2, 3, 4, 5].map((n) => [n, n]));
  });

  it('are not asked for where there was nothing to propose', async () => {
    const silent: Script = { analyst: () => appends() };
    const starts = ofType((await run({ numEpochs: 2 }, silent)).facts, 'step-start');
    expect(starts.map(({ epoch, proposal = 1 }) => [epoch, proposal])).toEqual([
      [1, 1],
      [1, 1],
      [2, 1],
      [2, 1],
    ]);
  });

  it('do not go on for ever where rollouts are limited and none is made', async () => {
    const silent: Script = { analyst: () => appends() };
    const { facts, summary } = await run({ numEpochs: 2, maxRollouts: 1000 }, silent);
    expect(summary.isDone).toBe(true);
    expect(ofType(facts, 'epoch-end').map(({ epoch }) => epoch)).toEqual([1, 2]);
    expect(ofType(facts, 'search-end')).toEqual([]);
  });

  it('are made in as many epochs as are paid for where rollouts are limited', async () => {
    const { facts } = await run({ numEpochs: 1, maxRollouts: 120 }, useless);
    expect(ofType(facts, 'epoch-end').length).toBeGreaterThan(1);
    expect(ofType(facts, 'search-end')).toEqual([{ type: 'search-end', reason: 'rollouts_spent' }]);
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
