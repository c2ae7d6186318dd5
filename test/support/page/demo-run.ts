import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { trainAt } from '../../../src/app/index.ts';
import type { ChatModel } from '../../../src/core/contracts/index.ts';
import { SimpleQAEnv } from '../../../src/envs/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/sim/index.ts';

export const demoFolder = () => mkdtempSync(join(tmpdir(), 'skillopt-page-'));

/** Trains the run of the demo into `demo` of a folder. With `hold` it waits for that in the middle, after a step or more. */
export async function trainDemo(folder: string, hold?: Promise<void>): Promise<void> {
  const seed = 11;
  const { items, initialSkill } = createWorld({ seed, train: 72, val: 48, test: 72 });
  const { train: trainItems, val: valItems, test: testItems } = items;
  await trainAt(join(folder, 'demo'), {
    config: { numEpochs: 2, batchSize: 24, editBudget: 3, seed },
    env: new SimpleQAEnv({ name: 'demo', trainItems, valItems, testItems, initialSkill }),
    target: simulatedTarget({ seed, noise: 0.04 }),
    optimizer: held(simulatedOptimizer({ seed, precision: 0.6, harmfulRate: 0.3 }), hold),
  });
}

const CALLS_BEFORE = 12;

function held(model: ChatModel, hold: Promise<void> | undefined): ChatModel {
  let calls = 0;
  return {
    ...model,
    async complete(request) {
      calls += 1;
      if (calls > CALLS_BEFORE) await hold;
      return model.complete(request);
    },
  };
}

/** A promise that the test keeps when it wants to. */
export function openGate(): { readonly hold: Promise<void>; readonly release: () => void } {
  let release = () => {};
  const hold = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { hold, release };
}
