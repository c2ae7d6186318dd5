import { type ChatModel, ModelCallError, memoryRun, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { withCircuit } from 'skillopt/models';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { expectEvery } from '../../../support/expect-every.ts';
import { levelOf, levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';
import { STRICT } from '../../../support/strict-gate.ts';

const failing = (id: string, isDown: (task: string) => boolean, status?: number) =>
  scripted('levels-target', ({ messages }) => {
    const content = messages[0]!.content;
    if (isDown(content)) throw new ModelCallError(`${id} is down`, { status });
    return String(levelOf(content));
  });

const train = (target: ChatModel, store = memoryRun(), config: SkillOptConfigInput = {}) =>
  new SkillOptTrainer({
    env: levelsEnv(),
    target,
    optimizer: levelsOptimizer(),
    store,
    config: { ...STRICT, numEpochs: 1, batchSize: 9, maxRetries: 0, ...config },
  }).train();

describe('a task that alone meets an outage', () => {
  const oneTask = () =>
    failing('val-8', (content) => content.includes('task val-8') || content.includes('task train-0'), 400);

  it('is reported as errored, and is in no score', async () => {
    const store = memoryRun();
    const summary = await train(oneTask(), store);
    expect(summary.isDone).toBe(true);
    expect(summary.baselineSelectionHard).toBe(1 / 8);
    const results = JSON.parse(store.views['baseline_selection_eval/results.json']!);
    expect(results[8]).toMatchObject({ id: 'val-8', errored: true, fail_reason: 'val-8 is down' });
    expect(JSON.parse(store.views['baseline_selection_eval/summary.json']!)).toMatchObject({ n: 9, errored: 1 });
  });

  it('is shown to no analyst', async () => {
    const optimizer = levelsOptimizer();
    const config = { ...STRICT, numEpochs: 1, batchSize: 9, maxRetries: 0 };
    await new SkillOptTrainer({ env: levelsEnv(), target: oneTask(), optimizer, store: memoryRun(), config }).train();
    const shown = optimizer.requests.flatMap(({ messages }) => messages.map(({ content }) => content)).join('\n');
    expect(shown).toContain('id: train-1');
    expect(shown).not.toContain('id: train-0\n');
  });
});

describe('an outage', () => {
  it('makes a stage invalid instead of low, keeps nothing of it, and the run resumes later', async () => {
    const store = memoryRun();
    const some = failing('half', (content) => /task val-[0248]/.test(content), 500);
    await expect(train(some, store, { maxConsecutiveFailures: 100 })).rejects.toMatchObject({
      code: 'MODEL_CALL_FAILED',
      message: expect.stringContaining('4 of 9 tasks got no score'),
    });
    expect(store.events.map(({ type }) => type)).toEqual(['run-start']);
    const summary = await train(levelsTarget(), store);
    expect(summary.baselineSelectionHard).toBe(1 / 9);
  });

  it('stops the run with one message after a few calls in a row', async () => {
    const target = failing('all', () => true, 503);
    await expect(train(target, memoryRun(), { workers: 1 })).rejects.toMatchObject({
      message: '5 calls in a row have failed; the last one: all is down',
    });
    expect(target.requests).toHaveLength(5);
  });

  it('is told from single failures by its success in between', async () => {
    let calls = 0;
    const flaky = scripted('flaky', () => {
      if (++calls % 3 !== 0) throw new ModelCallError('no', { status: 500 });
      return 'yes';
    });
    const model = withCircuit(flaky, 3);
    const errors: unknown[] = [];
    for (let i = 0; i < 12; i++) await model.complete({ messages: [] }).catch((error) => errors.push(error));
    expect(errors).toHaveLength(8);
    expectEvery(errors, (error) => error instanceof ModelCallError && !error.isFatal);
  });

  it('is not waited for when the key is refused', async () => {
    const target = failing('key', () => true, 401);
    await expect(train(target, memoryRun(), { workers: 1 })).rejects.toThrow('key is down');
    expect(target.requests).toHaveLength(1);
  });
});
