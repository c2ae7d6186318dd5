import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import {
  buildScheduler,
  parseConfig,
  type SkillOptConfig,
  type SkillOptConfigInput,
} from '../../../src/core/contracts/index.ts';
import { loadProject } from '../../../src/project/index.ts';
import { batchSizes, countSteps } from '../../../src/train/plan.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/skillopt-configs/', import.meta.url));

/** Training tasks, steps of a run, and how often the edit budget is 4, 3 and 2, as SkillOpt gives them. */
const PLANS: [env: string, train: number, steps: number, batches: number[], budgets: number[]][] = [
  ['searchqa', 400, 40, Array(10).fill(40), [13, 13, 14]],
  ['spreadsheetbench', 80, 8, [40, 40], [2, 3, 3]],
  ['officeqa', 50, 8, [40, 10], [2, 3, 3]],
  ['docvqa', 107, 12, [40, 40, 27], [4, 3, 5]],
  ['livemathematicianbench', 35, 4, [35], [1, 1, 2]],
  ['alfworld', 39, 4, [39], [1, 1, 2]],
];

function budgetsOf({ lrScheduler: mode, editBudget: maxLr, minEditBudget: minLr }: SkillOptConfig, totalSteps: number) {
  const scheduler = buildScheduler({ mode, maxLr, minLr, totalSteps });
  return Array.from({ length: totalSteps }, () => scheduler.step());
}

async function configOf(file: string, flags: object = {}) {
  const { project, notes } = await loadProject({
    flags: { ...flags },
    config: join(FIXTURES, file),
    cwd: '/somewhere',
  });
  const own = Object.entries(project).filter(([key]) => key in parseConfig());
  return { config: parseConfig(Object.fromEntries(own) as SkillOptConfigInput), notes };
}

describe('a config of SkillOpt means its protocol', () => {
  it.each(PLANS)(
    '%s makes the steps, batches and budgets of the reference',
    async (env, train, steps, batches, budgets) => {
      const { config, notes } = await configOf(`${env}/default.yaml`);
      expect(countSteps(config, train)).toBe(steps);
      expect(batchSizes(config, train)).toEqual(batches);
      expect([4, 3, 2].map((budget) => budgetsOf(config, steps).filter((other) => other === budget).length)).toEqual(
        budgets,
      );
      expect(config).toMatchObject({
        preset: 'paper',
        gate: 'strict',
        racing: 'off',
        proposalsPerBatch: 1,
        numEpochs: 4,
        minibatchSize: 8,
        mergeBatchSize: 8,
        editBudget: 4,
        minEditBudget: 2,
        lrScheduler: 'cosine',
        useSlowUpdate: true,
        slowUpdateGate: false,
        useMetaSkill: true,
        stepBufferScope: 'epoch',
        finalPasses: 0,
        maxSkillTokens: 0,
        leakCritic: false,
        optimizerMaxCompletionTokens: 16_384,
      });
      expect(notes).toEqual([
        "default.yaml is a SkillOpt config and trains by SkillOpt's protocol (preset: paper); ours is --preset default",
      ]);
    },
  );

  it('also where the file says hardly anything', async () => {
    using folder = tempFolder({ 'x.yaml': 'train: { batch_size: 5 }' });
    const { project } = await loadProject({ flags: {}, config: 'x.yaml', cwd: folder.path });
    expect(project).toMatchObject({ preset: 'paper', useSlowUpdate: true, slowUpdateGate: false, useMetaSkill: true });
    expect(project).toMatchObject({ minibatchSize: 8, gate: 'strict', proposalsPerBatch: 1, numEpochs: 4 });
    expect(project.extras).toEqual({ maxCompletionTokens: 16_384 });
  });

  it.each([
    ['a flag', 'train: { batch_size: 5 }', { preset: 'default' }, []],
    ['a key', 'train: { batch_size: 5 }\npreset: default', {}, []],
    ['--set', 'train: { batch_size: 5 }', {}, ['preset=default']],
  ])('unless %s says otherwise', async (_, text, flags, overrides) => {
    using folder = tempFolder({ 'x.yaml': text });
    const { project, notes } = await loadProject({ flags, overrides, config: 'x.yaml', cwd: folder.path });
    expect(project).toMatchObject({ preset: 'default', gate: 'paired', proposalsPerBatch: 3, slowUpdateGate: true });
    expect(project.optimizerMaxCompletionTokens).toBe(4096);
    expect(notes).toEqual([]);
  });

  it('keeps what the file says over what the protocol means', async () => {
    using folder = tempFolder({ 'x.yaml': 'optimizer: { slow_update_gate_with_selection: true }\ngate: paired' });
    const { project } = await loadProject({ flags: {}, config: 'x.yaml', cwd: folder.path });
    expect(project).toMatchObject({ preset: 'paper', slowUpdateGate: true, gate: 'paired' });
  });

  it('takes a least budget above the greatest for every step, as the reference does', async () => {
    using folder = tempFolder({
      'x.yaml': 'optimizer: { learning_rate: 1 }',
      'c.yaml': 'optimizer: { learning_rate: 1, lr_scheduler: constant }',
    });
    const cosine = await loadProject({ flags: {}, config: 'x.yaml', cwd: folder.path });
    expect(cosine.project).toMatchObject({ editBudget: 2, minEditBudget: 2 });
    expect(cosine.notes.join('\n')).toContain('min_learning_rate (2) is above learning_rate (1)');
    const constant = await loadProject({ flags: {}, config: 'c.yaml', cwd: folder.path });
    expect(constant.project).toMatchObject({ editBudget: 1, minEditBudget: 1 });
  });

  const tasks = ['train', 'train', 'val', 'test'].map((split, k) =>
    JSON.stringify({ id: `${split}${k}`, question: 'q', answers: ['a'], split }),
  );
  const offline = 'tasks: tasks.jsonl\ntarget: simulated\noptimizer: { provider: simulated }\nenv: { name: qa }\n';

  it('trains so many steps, and says so in one line', async () => {
    using folder = tempFolder({
      'x.yaml': `train: { batch_size: 1, num_epochs: 1 }\n${offline}`,
      'tasks.jsonl': tasks.join('\n'),
    });
    const io = captureIo({ cwd: folder.path });
    // The simulated optimizer does not know these tasks, so that nothing it says can be used.
    expect(await runCli(['train', '--config', 'x.yaml'], io), io.err()).toBe(1);
    expect(io.err().match(/^note: x\.yaml is a SkillOpt config.*$/gm)).toHaveLength(1);
    const history = JSON.parse(readFileSync(join(folder.path, 'runs/simple-qa/history.json'), 'utf8'));
    expect(history).toHaveLength(2);
  });

  it('is not told to those who want quiet, nor about a project of ours', async () => {
    using folder = tempFolder({
      'x.yaml': `train: { batch_size: 1, num_epochs: 1 }\n${offline}`,
      'skillopt.config.yaml': 'tasks: tasks.jsonl\ntarget: simulated\noptimizer: simulated',
      'tasks.jsonl': tasks.join('\n'),
    });
    const quiet = captureIo({ cwd: folder.path });
    expect(await runCli(['train', '--config', 'x.yaml', '--quiet'], quiet)).toBe(1);
    const ours = captureIo({ cwd: folder.path });
    expect(await runCli(['estimate'], ours)).toBe(0);
    expect(quiet.err() + ours.err()).not.toContain('note:');
  });
});
