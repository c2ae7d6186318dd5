import { resolve } from 'node:path';
import { z } from 'zod';
import { loadRun, trainAt } from '../../app/index.ts';
import { SimpleQAEnv } from '../../envs/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../sim/index.ts';
import { flagsFrom, jsonOption } from '../flags/flags.ts';
import { trainShown } from '../report-run.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import { addDemoSleep } from '../sleep/demo-sleep.ts';
import type { Terminal } from '../terminal/terminal.ts';

const shape = {
  seed: z.number().int().default(11).describe('Seed of the world, the models and the shuffles.'),
  latencyMs: z.number().nonnegative().default(40).describe('How long a simulated reply takes.'),
};

type Flags = Partial<Readonly<Record<'seed' | 'latencyMs', number> & Record<'fresh' | 'quiet', boolean>>>;

export const define: DefineCommand = (command, terminal) => {
  for (const option of flagsFrom(shape, { group: 'options:' })) command.addOption(option);
  command
    .option('--fresh', 'start over even when runs/demo is not finished')
    .option('--quiet', 'no progress, only the result')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => demo(flags, terminal));
  addDemoSleep(command, terminal);
};

const EXAMPLES = examples([
  ['skillopt demo', 'train in runs/demo; a finished run there is moved aside'],
  ['skillopt demo --seed 8', 'another world'],
  ['skillopt demo sleep', 'seven nights of a simulated person'],
]);

async function demo({ fresh, quiet, ...flags }: Flags, terminal: Terminal): Promise<void> {
  const { seed, latencyMs } = z.object(shape).parse(flags);
  const path = resolve(terminal.io.cwd(), 'runs/demo');
  const { items, initialSkill } = createWorld({ seed, train: 72, val: 48, test: 72 });
  const env = new SimpleQAEnv({
    name: 'demo',
    trainItems: items.train,
    valItems: items.val,
    testItems: items.test,
    initialSkill,
  });
  const isFresh = fresh || (await isFinished(path));
  if (!quiet) terminal.say('a skill learns the house style of a simulated office: offline, no key, no cost');
  // The optimizer is wrong often enough that the gate has something to do.
  const trainer = {
    config: { numEpochs: 2, batchSize: 24, editBudget: 3, seed },
    env,
    target: simulatedTarget({ seed, latencyMs, noise: 0.04 }),
    optimizer: simulatedOptimizer({ seed, latencyMs: 4 * latencyMs, precision: 0.6, harmfulRate: 0.3 }),
  };
  // Nothing was paid for, and a demo out of the cache would show nothing.
  await trainShown(path, { isQuiet: quiet }, terminal, (watching) =>
    trainAt(path, trainer, { isFresh, isCacheCleared: true, ...watching }),
  );
}

/** A run that cannot be read is not finished; training says what is wrong with it. */
const isFinished = (path: string) =>
  loadRun(path).then(
    (run) => run.state.isDone,
    () => false,
  );
