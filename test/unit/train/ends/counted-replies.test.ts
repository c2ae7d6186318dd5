import { type ChatModel, memoryRun, type RunStore, SkillOptTrainer } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { runDirectory } from '../../../../src/stores/index.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';
import { temporaryDirectory } from '../../stores/run-directory.fixture.ts';

type Spent = { calls: number; input: number; output: number };

/** The same model, with every reply that it sends added to `spent`. */
function billed(model: ChatModel, spent: Spent): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      spent.calls += 1;
      spent.input += reply.usage.input;
      spent.output += reply.usage.output;
      return reply;
    },
  };
}

/** Trains until `stopAfter` calls were answered in all, or to the end. */
function train(store: RunStore, spent: Spent, stopAfter = Number.POSITIVE_INFINITY) {
  const controller = new AbortController();
  const watched = (model: ChatModel): ChatModel => ({
    id: model.id,
    complete(request) {
      if (spent.calls >= stopAfter) controller.abort(new Error('cut off'));
      return model.complete(request);
    },
  });
  const models = { target: billed(levelsTarget(), spent), optimizer: billed(levelsOptimizer(), spent) };
  const { target, optimizer } = { target: watched(models.target), optimizer: watched(models.optimizer) };
  const config = { numEpochs: 2, batchSize: 3, workers: 1 };
  return new SkillOptTrainer({ env: levelsEnv(), target, optimizer, store, config, signal: controller.signal }).train();
}

const stores = {
  memoryRun: async () => ({ store: memoryRun() as RunStore, [Symbol.asyncDispose]: async () => {} }),
  async runDirectory() {
    const folder = await temporaryDirectory();
    return { store: runDirectory(folder.path), [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
  },
};

describe.each(Object.entries(stores))('a run in a %s', (_, open) => {
  it('that was cut off again and again tells of every token that was paid for, once', async () => {
    await using place = await open();
    const spent: Spent = { calls: 0, input: 0, output: 0 };
    for (const stopAfter of [5, 14, 15, 31, 32, 47]) {
      await expect(train(place.store, spent, stopAfter)).rejects.toThrow('cut off');
    }
    const { tokenSummary } = await train(place.store, spent);
    const sum = (pick: (usage: (typeof tokenSummary)[string]) => number) =>
      Object.values(tokenSummary).reduce((total, usage) => total + pick(usage), 0);
    expect(sum(({ replies, cacheHits }) => replies - cacheHits)).toBe(spent.calls);
    expect(sum(({ input }) => input)).toBe(spent.input);
    expect(sum(({ output }) => output)).toBe(spent.output);
  });
});
