import { memoryRun, SimpleQAEnv, type SkillOptConfigInput, SkillOptTrainer } from '../../../src/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/public/sim.ts';
import { everyTopic, trueScore } from '../true-score.ts';
import { OPTIMIZERS, type OptimizerName, SETTINGS, TARGET, WORLD } from './setting.ts';

type Trial = { readonly seed: number; readonly config: SkillOptConfigInput; readonly optimizer: OptimizerName };

/** Trains once in the world of a seed, and gives the true score of the best skill, in points of 100. */
export async function trainInWorld({ seed, config, optimizer }: Trial): Promise<number> {
  const world = createWorld({ ...WORLD, seed });
  const { items, initialSkill } = world;
  const trainer = new SkillOptTrainer({
    config: { ...SETTINGS, ...config, seed },
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: [], initialSkill }),
    target: simulatedTarget({ ...TARGET, seed }),
    optimizer: simulatedOptimizer({ ...OPTIMIZERS[optimizer], seed }),
    store: memoryRun(),
  });
  const { bestSkill } = await trainer.train();
  return 100 * trueScore(bestSkill, world, TARGET.noise, everyTopic(world));
}
