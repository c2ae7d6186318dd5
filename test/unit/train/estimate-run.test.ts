import { memoryRun, parseConfig, type SkillEnv, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { estimateRun } from '../../../src/train/index.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../support/levels.ts';
import { appends, scriptedRun, type Task } from '../../support/scripted-run.ts';
import { EPOCH_ENDS, STRICT } from '../../support/strict-gate.ts';

type World = Parameters<typeof scriptedRun>[0];

const tokens = { skill: 100, item: 20, optimizerPrompt: 400, targetReply: 50, optimizerReply: 300, edit: 10 };
const items = { train: 40, val: 20, test: 30 };

describe('estimateRun', () => {
  it('counts what a run of known size can need', () => {
    const config = parseConfig({
      ...STRICT,
      ...EPOCH_ENDS,
      numEpochs: 2,
      batchSize: 20,
      minibatchSize: 8,
      mergeBatchSize: 2,
    });
    const byStage = Object.fromEntries(estimateRun({ config, items, tokens }).map((row) => [row.stage, row]));
    // 4 steps: baseline 20 + 4 × 20 validation, 2 × 40 train, 2 × 30 test
    // and at the end of epoch 2: 2 × 20 compared, 20 to validate the guidance; 3 tests
    expect(byStage.rollout!.calls).toEqual({ low: 20 + 40 + 30, high: 20 + 80 + 80 + 90 + 40 + 20 });
    // 20 tasks in minibatches of 8: 3, or 4 when failures and successes divide them
    expect(byStage.analyst!.calls).toEqual({ low: 12, high: 16 });
    // 4 patches at 2 a merge: 2 + 1, and the final one
    expect(byStage.merge!.calls).toEqual({ low: 0, high: 16 });
    expect(byStage.ranking!.calls).toEqual({ low: 0, high: 4 });
    // 4 steps of 4 edits of 10 tokens, half of them in the mean
    expect(byStage.rollout!.inputTokens).toEqual({ low: 90 * 120, high: 330 * (120 + 80) });
    expect(byStage.rollout!.outputTokens.high).toBe(330 * 50);
    expect(byStage.slow_update!.calls).toEqual({ low: 1, high: 1 });
    expect(byStage.meta_skill!.calls).toEqual({ low: 0, high: 0 });
  });

  it('counts the final measurement as needed, whatever the search finds', () => {
    const least = (settings: SkillOptConfigInput) =>
      estimateRun({ config: parseConfig({ ...STRICT, ...settings }), items, tokens })[0]!.calls.low;
    expect(least({ finalPasses: 0 })).toBe(20 + 40 + 30);
    expect(least({ finalPasses: 2 })).toBe(20 + 40 + 30 + 2 * 20);
    expect(least({ finalPasses: 1, evalTest: false })).toBe(20 + 40 + 20);
  });

  it.each([1, 2])('is kept by real runs (seed %i)', async (seed) => {
    const settings: SkillOptConfigInput = { numEpochs: 3, batchSize: 4, minibatchSize: 2, mergeBatchSize: 2, seed };
    const [target, optimizer] = [levelsTarget(), levelsOptimizer()];
    await new SkillOptTrainer({ env: levelsEnv(), target, optimizer, store: memoryRun(), config: settings }).train();
    const sizes = { train: 9, val: 9, test: 9 };
    const rows = estimateRun({ config: parseConfig(settings), items: sizes, tokens });
    const sum = (role: string, end: 'low' | 'high') =>
      rows.filter((row) => row.role === role).reduce((total, row) => total + row.calls[end], 0);
    expect(target.requests.length).toBeGreaterThanOrEqual(sum('target', 'low'));
    expect(target.requests.length).toBeLessThanOrEqual(sum('target', 'high'));
    expect(optimizer.requests.length).toBeLessThanOrEqual(sum('optimizer', 'high'));
  });

  const PLANS: readonly SkillOptConfigInput[] = [
    { batchSize: 40 },
    { batchSize: 40, accumulation: 2 },
    { batchSize: 8, accumulation: 3, gate: 'strict', proposalsPerBatch: 1 },
    { batchSize: 10, minibatchSize: 3, longitudinalPairPolicy: 'changed', proposalsPerBatch: 2 },
    { batchSize: 10, failureOnly: true, proposalsPerBatch: 1 },
    { batchSize: 10, ...EPOCH_ENDS },
    { batchSize: 10, maxRollouts: 60 },
  ];
  const SIZES = [1, 2, 5, 41];
  const oneTaskEach: NonNullable<SkillEnv<Task>['planTrainEpoch']> = ({ batches }) =>
    Array.from({ length: batches }, () => [{ id: 'train-0', k: 0 }]);

  /** What each stage was asked, and what it was said to be at least and at most. */
  async function compare(train: number, settings: SkillOptConfigInput, world: Partial<World>) {
    const [config, sizes] = [
      parseConfig({ finalPasses: 2, ...settings, numEpochs: 3, workers: 4 }),
      { train, val: 6, test: 4 },
    ];
    const { requests } = await scriptedRun({ solves: () => false, ...world, sizes, config });
    const asked: Record<string, number> = { rollout: requests.target.length };
    for (const { stage } of requests.optimizer) asked[stage!] = (asked[stage!] ?? 0) + 1;
    const hasOwnPlan = world.hooks?.planTrainEpoch !== undefined;
    const rows = estimateRun({ config, items: sizes, tokens, hasOwnPlan });
    return rows.map(({ stage, calls: { low, high } }) => ({ stage, low, high, asked: asked[stage] ?? 0 }));
  }

  it.each(PLANS)('is never above what a run asks that finds nothing to change, nor below: %o', async (settings) => {
    const worlds = SIZES.map((train) => ({ train, hooks: {} }));
    for (const { train, hooks } of [...worlds, { train: 12, hooks: { planTrainEpoch: oneTaskEach } }]) {
      const rows = await compare(train, settings, { hooks });
      const wrong = rows.filter(({ low, high, asked }) => asked < low || asked > high);
      expect(wrong, `${train} tasks`).toEqual([]);
    }
  });

  it.each(PLANS)('is never below what a run asks that changes the skill at every step: %o', async (settings) => {
    for (const train of [5, 41]) {
      let edits = 0;
      const script = { analyst: () => appends(`change ${edits++}`) };
      const rows = await compare(
        train,
        { ...settings, useGate: false },
        { solves: ({ length }) => length % 2, script },
      );
      expect(
        rows.filter(({ high, asked }) => asked > high),
        `${train} tasks`,
      ).toEqual([]);
    }
  });
});
