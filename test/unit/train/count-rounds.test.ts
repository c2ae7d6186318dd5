import { memoryRun, SkillOptTrainer } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { createRoundClock } from '../../../bench/quality/count-rounds.ts';
import { createLimit, createStop } from '../../../src/pipeline/index.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../support/levels.ts';
import { STRICT } from '../../support/strict-gate.ts';

const question = { messages: [{ role: 'user' as const, content: 'hi' }] };

it('counts calls that wait for each other, and those at the same time once', async () => {
  const clock = createRoundClock();
  const model = clock.wrap(scripted('model', () => 'ok'));
  for (let call = 0; call < 3; call++) await model.complete(question);
  expect(clock.rounds()).toBe(3);
  await Promise.all([1, 2, 3].map(() => model.complete(question)));
  expect(clock.rounds()).toBe(4);
});

it('counts together what comes a little later, over all models', async () => {
  const clock = createRoundClock();
  const [one, other] = ['one', 'other'].map((id) => clock.wrap(scripted(id, () => 'ok')));
  const later = new Promise(setImmediate).then(() => other!.complete(question));
  await Promise.all([one!.complete(question), later]);
  expect(clock.rounds()).toBe(1);
});

it('knows how many may be under way', async () => {
  const clock = createRoundClock();
  const model = clock.wrap(scripted('model', () => 'ok'));
  using stop = createStop();
  await createLimit(16, stop).map(Array.from({ length: 40 }), () => model.complete(question));
  expect(clock.rounds()).toBe(3);
});

it('counts a run of the trainer, each time the same', async () => {
  const count = async (workers: number) => {
    const clock = createRoundClock();
    const [target, optimizer] = [levelsTarget(), levelsOptimizer()].map(clock.wrap);
    const config = { ...STRICT, numEpochs: 1, batchSize: 9, evalTest: false, workers };
    await new SkillOptTrainer({
      env: levelsEnv(),
      target: target!,
      optimizer: optimizer!,
      store: memoryRun(),
      config,
    }).train();
    return clock.rounds();
  };
  const many = await count(16);
  expect(await count(16)).toBe(many);
  expect(await count(3)).toBeGreaterThan(many + 3);
});
