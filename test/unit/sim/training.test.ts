import { describe, expect, it } from 'vitest';
import { memoryRun, SimpleQAEnv, type SkillOptConfigInput, SkillOptTrainer } from '../../../src/index.ts';
import {
  createWorld,
  type SimulatedTargetOptions,
  simulatedOptimizer,
  simulatedTarget,
} from '../../../src/public/sim.ts';
import { readRules } from '../../../src/sim/world/world.ts';

async function train(seed: number, options: SimulatedTargetOptions = {}, config: SkillOptConfigInput = {}) {
  const world = createWorld({ seed });
  const { items, initialSkill } = world;
  const env = new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill });
  const target = simulatedTarget({ seed, ...options });
  const models = { target, optimizer: simulatedOptimizer({ seed }) };
  const trainer = new SkillOptTrainer({ config, env, ...models, store: memoryRun() });
  return { world, summary: await trainer.train() };
}

describe('training in the simulated world', () => {
  it.each([7, 1])('seed %i: the real stages find most of the latent rules', async (seed) => {
    const { world, summary } = await train(seed);
    const learned = [...readRules(summary.bestSkill).values()].map(({ variant }) => variant.rule);
    expect(world.rules.filter(({ text }) => learned.includes(text)).length).toBeGreaterThanOrEqual(6);
    expect(summary.baselineTestHard).toBeLessThan(0.4);
    expect(summary.testHard).toBeGreaterThan(0.8);
  });

  it('teaches nothing in null mode', async () => {
    const { summary } = await train(7, { nullMode: true }, { numEpochs: 2 });
    expect(summary.testHard).toBeLessThan(0.5);
  });
});
