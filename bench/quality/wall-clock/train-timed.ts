import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ChatModel,
  memoryRun,
  type RunStore,
  runDirectory,
  SimpleQAEnv,
  SkillOptTrainer,
} from '../../../src/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/public/sim.ts';
import { createRoundClock } from '../count-rounds.ts';
import { delayed } from './delayed.ts';
import { configFor, NOISE, OPTIMIZER, type Side, WORLD } from './setting.ts';

type Training = { readonly side: Side; readonly seed: number };

/** How long a run takes on a real disk when every call takes `latencyMs`, in milliseconds. */
export async function timeTraining(training: Training, latencyMs: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  try {
    const start = performance.now();
    await train(training, (model) => delayed(model, latencyMs), runDirectory(join(folder, 'run')));
    return performance.now() - start;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The longest chain of calls in the same run. */
export async function countRounds(training: Training): Promise<number> {
  const clock = createRoundClock();
  await train(training, clock.wrap, memoryRun());
  return clock.rounds();
}

async function train({ side, seed }: Training, wrap: (model: ChatModel) => ChatModel, store: RunStore): Promise<void> {
  const { items, initialSkill } = createWorld({ ...WORLD, seed });
  const trainer = new SkillOptTrainer({
    config: { ...configFor(side), seed },
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: [], initialSkill }),
    target: wrap(simulatedTarget({ noise: NOISE, seed })),
    optimizer: wrap(simulatedOptimizer({ ...OPTIMIZER, seed })),
    store,
  });
  await trainer.train();
}
