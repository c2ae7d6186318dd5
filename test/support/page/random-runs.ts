import { memoryRun, type RunEvent, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { SimpleQAEnv } from 'skillopt/envs';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { PythonRandom } from '../../../src/core/contracts/index.ts';

/** Settings by dice: each kind of event is in the journal of some run. */
function settingsBy(dice: PythonRandom): SkillOptConfigInput {
  const isTrue = (chance = 0.5) => dice.random() < chance;
  const gate = isTrue(0.7) ? 'paired' : 'strict';
  return {
    gate,
    gateMetric: (['hard', 'soft', 'mixed'] as const)[Math.floor(dice.random() * 3)]!,
    numEpochs: 1 + Math.floor(dice.random() * 2),
    batchSize: 4 + Math.floor(dice.random() * 6),
    editBudget: 1 + Math.floor(dice.random() * 4),
    minEditBudget: 1,
    proposalsPerBatch: 1 + Math.floor(dice.random() * 3),
    salvage: isTrue(),
    prune: isTrue(0.3),
    useSlowUpdate: isTrue(0.3),
    slowUpdateSamples: 3,
    useMetaSkill: isTrue(0.2),
    useGate: isTrue(0.9),
    regressionVeto: gate === 'paired' && isTrue(0.3),
    evalTest: isTrue(0.8),
    ...(isTrue(0.3) ? { maxRollouts: 60 + Math.floor(dice.random() * 100) } : {}),
    seed: Math.floor(dice.random() * 1_000),
  };
}

/** The journal of a small simulated run, as far as it got. The same seed gives the same run, apart from times. */
export async function randomRun(seed: number): Promise<readonly RunEvent[]> {
  const dice = new PythonRandom(seed);
  const config = settingsBy(dice);
  if (config.useGate === false) delete (config as { regressionVeto?: boolean }).regressionVeto;
  const { items, initialSkill } = createWorld({ seed, train: 10, val: 8, test: 6 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  const env = new SimpleQAEnv({ name: 'dice', trainItems, valItems, testItems, initialSkill });
  const store = memoryRun();
  const trainer = new SkillOptTrainer({
    ...{ config, env, store },
    target: simulatedTarget({ seed, latencyMs: 0, noise: 0.3 * dice.random() }),
    optimizer: simulatedOptimizer({ seed, latencyMs: 0, precision: dice.random(), harmfulRate: 0.4 * dice.random() }),
  });
  await trainer.train();
  const isCut = dice.random() < 0.3;
  return isCut ? store.events.slice(0, 1 + Math.floor(dice.random() * store.events.length)) : store.events;
}
