import { emptyRun, type RunEvent, reduce } from 'skillopt';
import type { FakeRequest } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { projectOverHttp } from '../../../support/project-over-http.ts';
import { appends, byLevel, type Script, scriptedRun } from '../../../support/scripted-run.ts';
import { startSimOverHttp } from '../../../support/sim-over-http.ts';

const isOptimizer = ({ model }: FakeRequest) => model === 'sim-optimizer';
const WORLD = { proposalsPerBatch: 1, numEpochs: 1, finalPasses: 0, evalTest: false };

describe('a run in which no reply of the optimizer can be read', () => {
  it('ends with exit code 1 and says so, in the report, in --json and in the journal', async () => {
    await using far = await startSimOverHttp();
    using project = projectOverHttp(far.baseURL, WORLD);
    far.disturbance = (request) => (isOptimizer(request) ? { content: 'I\u001b[2J would rather not.' } : undefined);
    const { code, out, err } = await project.run('train');
    expect(code).toBe(1);
    expect(err).toContain('warning: No reply of the optimizer could be read: nothing was learned.');
    expect(out).toContain('Broken: no reply of the model that proposes edits could be read.');
    expect(out).toMatch(/reading results: (\d+) of \1 replies could not be read\n {2}such as: I.* would rather not\./);
    expect(out).not.toContain('\u001b');

    const { optimizerReplies } = JSON.parse((await project.run('show', 'run', '--json')).out);
    const sample = 'I\u001b[2J would rather not.';
    expect(optimizerReplies).toEqual({ analyst: { read: 0, unreadable: expect.any(Number), sample } });
    const counted = (await project.events()).map(({ answers }) => answers?.analyst?.unreadable ?? 0);
    expect(counted.reduce((sum, count) => sum + count)).toBe(optimizerReplies.analyst.unreadable);
    expect((await project.run('train')).code).toBe(1);
  });
});

describe('a run in which no answer is ever right', () => {
  it('is broken too: it ends with exit code 1, also with --json and when it is asked for again', async () => {
    await using far = await startSimOverHttp();
    using project = projectOverHttp(far.baseURL, WORLD);
    far.disturbance = (request) => (isOptimizer(request) ? undefined : { content: 'no idea' });
    const { code, out } = await project.run('train', '--quiet', '--json');
    expect([code, JSON.parse(out).verdict]).toEqual([1, expect.objectContaining({ kind: 'broken' })]);
    expect(await project.run('train')).toMatchObject({ code: 1, out: expect.stringMatching(/^Broken: not one of/) });
  });
});

describe('a reply that cannot be read', () => {
  const babbling: Script = { analyst: ({ step }) => (step === 2 ? 'x'.repeat(500) : appends(`LEVEL=${step}`)) };
  const config = { numEpochs: 3, batchSize: 10, minibatchSize: 10, failureOnly: true };

  it('is counted where others can, and the run is a success', async () => {
    const { summary } = await scriptedRun({ solves: byLevel, script: babbling, config });
    expect(summary.optimizerReplies).toEqual({ analyst: { read: 2, unreadable: 2, sample: 'x'.repeat(200) } });
    expect(summary.warnings).toEqual([]);
  });

  it('is not counted twice when a run is resumed, wherever it was cut off', async () => {
    const { store, summary: whole } = await scriptedRun({ solves: byLevel, script: babbling, config });
    for (let cut = store.events.length - 1; cut > 0; cut--) {
      (store.events as unknown[]).length = cut;
      const { summary } = await scriptedRun({ solves: byLevel, script: babbling, config, store });
      expect([cut, summary.optimizerReplies]).toEqual([cut, whole.optimizerReplies]);
    }
  });

  it('says that it was cut off', async () => {
    const far = await startSimOverHttp();
    await using _closed = far;
    using project = projectOverHttp(far.baseURL, WORLD);
    far.disturbance = (request) => (isOptimizer(request) ? { content: '{"patch', finishReason: 'length' } : undefined);
    expect((await project.run('train')).out).toContain('such as: (cut off by the length limit) {"patch');
  });

  it('is no part of a journal of an earlier version, which still folds', () => {
    const old = { type: 'run-end', at: '', ms: 0, usage: {} } as RunEvent;
    expect(reduce(emptyRun, old)).toMatchObject({ isDone: true, answers: {} });
  });
});
