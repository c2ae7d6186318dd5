import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trainAt } from '../../../src/app/index.ts';
import { SimpleQAEnv } from '../../../src/envs/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/sim/index.ts';

export const demoFolder = () => mkdtempSync(join(tmpdir(), 'skillopt-page-'));

/** Trains the run of the demo into `demo` of a folder, without delays unless one is wanted. */
export async function trainDemo(folder: string, latencyMs = 0): Promise<void> {
  const seed = 11;
  const { items, initialSkill } = createWorld({ seed, train: 72, val: 48, test: 72 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  await trainAt(join(folder, 'demo'), {
    config: { numEpochs: 2, batchSize: 24, editBudget: 3, seed },
    env: new SimpleQAEnv({ name: 'demo', trainItems, valItems, testItems, initialSkill }),
    target: simulatedTarget({ seed, latencyMs, noise: 0.04 }),
    optimizer: simulatedOptimizer({ seed, latencyMs, precision: 0.6, harmfulRate: 0.3 }),
  });
}
