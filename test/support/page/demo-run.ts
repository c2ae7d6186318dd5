import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trainAt } from '../../../src/app/index.ts';
import { SimpleQAEnv } from '../../../src/envs/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/sim/index.ts';

/** The run of the demo, trained without delays: a folder with the run `demo` in it. */
export async function trainDemo(seed = 11): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-page-'));
  const { items, initialSkill } = createWorld({ seed, train: 72, val: 48, test: 72 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  await trainAt(join(folder, 'demo'), {
    config: { numEpochs: 2, batchSize: 24, editBudget: 3, seed },
    env: new SimpleQAEnv({ name: 'demo', trainItems, valItems, testItems, initialSkill }),
    target: simulatedTarget({ seed, latencyMs: 0, noise: 0.04 }),
    optimizer: simulatedOptimizer({ seed, latencyMs: 0, precision: 0.6, harmfulRate: 0.3 }),
  });
  return folder;
}
