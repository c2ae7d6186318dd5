import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli } from '../src/cli/index.ts';
import { worldFiles } from '../test/e2e/project.ts';
import { captureIo } from '../test/support/capture-io.ts';
import type { BenchRow } from './row.ts';

type Project = { readonly world: object; readonly noise: number; readonly first: object; readonly again: object };

/** Ten projects that have been trained once and are trained again with another seed, half of them with other settings. */
const PROJECTS: readonly Project[] = [
  { world: { seed: 1, train: 24, val: 16, test: 12 }, noise: 0.04, first: { numEpochs: 2, batchSize: 12 }, again: {} },
  { world: { seed: 2, train: 48, val: 40, test: 60 }, noise: 0.1, first: { numEpochs: 2, batchSize: 24 }, again: {} },
  {
    ...{ world: { seed: 3, train: 36, val: 24, test: 24 }, noise: 0.04 },
    ...{ first: { numEpochs: 1, batchSize: 12 }, again: { numEpochs: 2 } },
  },
  {
    ...{ world: { seed: 4, train: 48, val: 24, test: 36 }, noise: 0.1 },
    ...{ first: { numEpochs: 2, batchSize: 16, gate: 'strict' }, again: {} },
  },
  {
    ...{ world: { seed: 5, train: 60, val: 30, test: 30 }, noise: 0.2 },
    ...{ first: { numEpochs: 2, batchSize: 20 }, again: { batchSize: 30 } },
  },
  { world: { seed: 6, train: 24, val: 40, test: 0 }, noise: 0.04, first: { numEpochs: 3, batchSize: 12 }, again: {} },
  {
    ...{ world: { seed: 7, train: 72, val: 48, test: 72 }, noise: 0.04 },
    ...{ first: { numEpochs: 2, batchSize: 24, editBudget: 3 }, again: { numEpochs: 3 } },
  },
  {
    ...{ world: { seed: 8, train: 30, val: 20, test: 20, topics: 6 }, noise: 0.1 },
    ...{ first: { numEpochs: 2, batchSize: 10 }, again: {} },
  },
  {
    ...{ world: { seed: 9, train: 48, val: 32, test: 40 }, noise: 0.2 },
    ...{ first: { numEpochs: 2, batchSize: 16, useSlowUpdate: true }, again: { editBudget: 2, minEditBudget: 1 } },
  },
  {
    ...{ world: { seed: 10, train: 40, val: 40, test: 40 }, noise: 0.04 },
    ...{ first: { preset: 'paper', numEpochs: 2, batchSize: 20 }, again: { numEpochs: 3 } },
  },
];

const GOAL = 0.3;

/** Whether the likely number of calls is near the true one, after one earlier run of the same project. */
export const estimate: BenchRow = {
  name: 'estimate',
  what: 'true calls against the likely ones, 10 projects with one earlier run',
  goal: `each within ±${100 * GOAL} %`,
  async run(say) {
    const errors: number[] = [];
    const unlearned: number[] = [];
    for (const [at, project] of PROJECTS.entries()) {
      const { before, likely, truth, low, high } = await play(project);
      errors.push(likely / truth - 1);
      unlearned.push(before / truth - 1);
      say(`project ${at + 1}: likely ${likely} of ${low} to ${high} (${before} before any run), in truth ${truth}`);
    }
    const within = errors.filter((error) => Math.abs(error) <= GOAL).length;
    const measured = `${within} of ${errors.length}, the worst ${percent(worst(errors))}; without a run ${percent(worst(unlearned))}`;
    return { measured, holds: within === errors.length, figures: { errors, unlearned } };
  },
};

const worst = (errors: readonly number[]) => errors.toSorted((a, b) => Math.abs(b) - Math.abs(a))[0]!;
const percent = (share: number) => `${share > 0 ? '+' : ''}${(100 * share).toFixed(0)} %`;

async function play({ world, noise, first, again }: Project) {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-estimate-'));
  const models = {
    target: { provider: 'simulated', noise },
    optimizer: { provider: 'simulated', precision: 0.6, harmfulRate: 0.2 },
  };
  const setUp = async (name: string, config: object) => {
    for (const [file, text] of Object.entries(worldFiles({ name, ...models, ...config }, world)))
      await writeFile(join(folder, file), text);
  };
  const cli = async (...argv: string[]) => {
    const io = captureIo({ cwd: folder });
    if ((await runCli([...argv, '--json'], io)) !== 0) throw new Error(io.err());
    return JSON.parse(io.out());
  };
  try {
    await setUp('again', { ...first, ...again, seed: 2 });
    const before = (await cli('estimate')).likely.calls;
    await setUp('first', { ...first, seed: 1 });
    await cli('train', '--quiet');
    await setUp('again', { ...first, ...again, seed: 2 });
    const { likely, totals } = await cli('estimate');
    const { verdict } = await cli('train', '--quiet');
    return { before, likely: likely.calls, truth: verdict.calls, ...totals.calls };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
