import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
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

export type Training = { readonly side: Side; readonly seed: number };
export type Task = { readonly runs: readonly Training[]; readonly latencyMs: number; readonly isTogether: boolean };
/** In the order of the runs. */
export type Times = { readonly rounds: readonly number[]; readonly ms: readonly number[] };

// A process of its own, compiled as the package is: what runs the sources of the bench makes them slower.
const { runs, latencyMs, isTogether } = (await json(process.stdin)) as Task;
const rounds = await oneByOne(runs, countRounds); // and the engine compiles meanwhile
const time = (run: Training) => timeTraining(run, latencyMs);
const ms = await (isTogether ? Promise.all(runs.map(time)) : oneByOne(runs, time));
console.log(JSON.stringify({ rounds, ms } satisfies Times));

async function oneByOne<T, Result>(items: readonly T[], work: (item: T) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

/** How long a run takes on a real disk when every call takes `latencyMs`, in milliseconds. */
async function timeTraining(training: Training, latencyMs: number): Promise<number> {
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
async function countRounds(training: Training): Promise<number> {
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
