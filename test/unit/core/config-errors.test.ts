import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const TASKS = ['train', 'val', 'test'].map((split) =>
  JSON.stringify({ id: split, question: 'q', answers: ['a'], split }),
);
const MODELS = 'target: simulated\noptimizer: simulated\n';
const BASE = `tasks: tasks.jsonl\n${MODELS}`;

/** What a command says about a project, with paths as seen from its folder. */
async function complain(files: Readonly<Record<string, string>>, argv: readonly string[]) {
  using folder = tempFolder({ 'tasks.jsonl': TASKS.join('\n'), ...files });
  const io = captureIo({ cwd: folder.path });
  const code = await runCli([...argv], io);
  const said = io.err().replaceAll(`${folder.path}/`, '');
  return { code, error: /^error: ([\s\S]*?)\n(?:hint:|$)/m.exec(said)?.[1], hint: /^hint: (.+)$/m.exec(said)?.[1] };
}

/** The settings before a project that is otherwise fine, and what is said about them. */
const OURS: readonly (readonly [text: string, error: string])[] = [
  ['batchSize: many', 'batchSize: expected a number, got "many"'],
  ['batchSize: "5"', 'batchSize: expected a number, got "5", which is text: leave the quotes out'],
  ['batchSize: 0', 'batchSize: expected more than 0, got 0'],
  ['batchSize: 2.5', 'batchSize: expected a whole number, got 2.5'],
  ['batchSize:', 'batchSize: expected a number, got nothing'],
  ['numEpochs: -1', 'numEpochs: expected more than 0, got -1'],
  ['mergeBatchSize: 1', 'mergeBatchSize: expected at least 2, got 1'],
  ['gateMixedWeight: 1.5', 'gateMixedWeight: expected at most 1, got 1.5'],
  ['gateMetric: hrad', 'gateMetric: expected one of hard, soft, mixed, got "hrad" — did you mean hard?'],
  ['preset: papr', 'preset: expected one of default, paper, got "papr" — did you mean paper?'],
  ['lrScheduler: step', 'lrScheduler: expected one of constant, linear, cosine, autonomous, got "step"'],
  ['useGate: yes', 'useGate: expected true or false, got "yes"'],
  ['useGate: "false"', 'useGate: expected true or false, got "false", which is text: leave the quotes out'],
  ['minEditBudget: 9', 'minEditBudget: must not exceed editBudget (4), got 9'],
  ['protectedItems: zzz', 'protectedItems: expected a list, got "zzz"'],
  ['extras: [1]', 'extras: expected keys and values, got [1]'],
  ['prices: { gpt: 3 }', 'prices.gpt: expected keys and values, got 3'],
  ['maxCostUsd: 0', 'maxCostUsd: expected more than 0, got 0'],
  ['name: ../up', 'name: expected letters, digits, - _ and ., got "../up"'],
  ['env: 3', 'env: expected text, got 3'],
  ['env: quiz', 'unknown environment "quiz"'],
  ['env: QA', 'unknown environment "QA" — did you mean qa?'],
  ['env: searchqq', 'unknown environment "searchqq" — did you mean searchqa?'],
  ['env: ./none.mjs', 'the environment module none.mjs does not exist'],
  ['skill: none.md', 'the skill document none.md does not exist'],
  ['splitRatio: half', 'splitRatio: expected three positive numbers such as 4:3:3, got "half"'],
  ['splitRatio: 1:1', 'splitRatio: expected three positive numbers such as 4:3:3, got "1:1"'],
  ['splitRatio: 1:1:0', 'splitRatio: expected three positive numbers such as 4:3:3, got "1:1:0"'],
  ['splitRatio: 433', 'splitRatio: expected text, got 433'],
  ['splitMode: ratios', 'splitMode: expected one of ratio, split_dir, got "ratios" — did you mean ratio?'],
  ['promptOverrides: { rankng: x }', 'promptOverrides: unknown key rankng — did you mean ranking?'],
  [
    'promptOverrides: { ranking: none.md }',
    "promptOverrides.ranking cannot be read: ENOENT: no such file or directory, open 'none.md'",
  ],
  ['bachSize: 3', 'unknown key bachSize — did you mean batchSize?'],
  ['zebra: 3', 'unknown key zebra'],
  ['seed: 1.5', 'seed: expected a whole number, got 1.5'],
  ['extras: { api_key: hush }', 'extras.api_key looks like a secret, and this file must not hold secrets'],
];

describe('a project file of ours names its line and key', () => {
  it.each(OURS)('%j', async (text, error) => {
    const tasksFirst = `# a comment\n${text}\n${BASE}`;
    const said = await complain({ 'skillopt.config.yaml': tasksFirst }, ['estimate']);
    expect(said).toEqual({ code: 2, error: `skillopt.config.yaml:2: ${error}`, hint: expect.any(String) });
  });

  it.each([
    ['target: opnai:gpt', 'target: unknown provider "opnai" — did you mean openai?'],
    ['target: "openai:"', 'the target (openai:MODEL) is not valid:\n  model: expected text that is not empty, got ""'],
    ['target: { model: x }', 'target.provider must be text, got nothing'],
    [
      'target: { provider: openai, model: x, temperatur: 0 }',
      'the target (openai:MODEL) is not valid:\n  unknown key temperatur — did you mean temperature?',
    ],
    ['target: [a]', 'target: expected a model such as openai:MODEL, or provider and model as keys, got ["a"]'],
    ['target: openai:m', 'the target (openai) needs a key, and the variable OPENAI_API_KEY is not set'],
    [
      'target: compatible:m',
      'the target (compatible) needs a baseURL: expected a URL such as http://127.0.0.1:8080/v1, got nothing',
    ],
  ])('%j', async (text, error) => {
    const said = await complain({ 'skillopt.config.yaml': `tasks: tasks.jsonl\noptimizer: simulated\n${text}\n` }, [
      'train',
    ]);
    expect(said).toEqual({ code: 2, error: `skillopt.config.yaml:3: ${error}`, hint: expect.any(String) });
  });

  it('also in JSON, and deep inside', async () => {
    const json = `{\n  "tasks": "tasks.jsonl",\n  "prices": {\n    "m": { "input": "1", "cachedInput": 0, "output": 0 }\n  }\n}`;
    expect((await complain({ 'skillopt.config.json': json }, ['estimate'])).error).toBe(
      'skillopt.config.json:4: prices.m.input: expected a number, got "1", which is text: leave the quotes out',
    );
  });

  it('and tells all problems at once', async () => {
    const text = `${BASE}batchSize: x\ngateMetric: y\n`;
    expect((await complain({ 'skillopt.config.yaml': text }, ['estimate'])).error?.split('\n')).toEqual([
      'skillopt.config.yaml:4: batchSize: expected a number, got "x"',
      'skillopt.config.yaml:5: gateMetric: expected one of hard, soft, mixed, got "y"',
    ]);
  });
});

describe('a setting that is wrong elsewhere says where', () => {
  const file = { 'skillopt.config.yaml': BASE };
  it.each([
    [
      'a default',
      { 'skillopt.config.yaml': `${BASE}editBudget: 1` },
      ['estimate'],
      'minEditBudget (not set, so its default): must not exceed editBudget (1), got 2',
    ],
    [
      'a flag',
      file,
      ['estimate', '--min-edit-budget', '9'],
      'command line: --min-edit-budget: must not exceed editBudget (4), got 9',
    ],
    [
      'a flag of the wrong kind',
      file,
      ['estimate', '--batch-size', 'x'],
      "option '--batch-size <n>' argument 'x' is invalid. Expected a number.",
    ],
    [
      'a flag out of range',
      file,
      ['estimate', '--batch-size', '0'],
      "option '--batch-size <n>' argument '0' is invalid. Expected more than 0.",
    ],
    ['--set', file, ['estimate', '--set', 'batchSize=many'], '--set: batchSize: expected a number, got "many"'],
    [
      '--set in their words',
      file,
      ['estimate', '--set', 'lr_control_mode=x'],
      '--set: optimizer.lr_control_mode: expected one of fixed, manual, scheduler, scheduled, autonomous, auto, optimizer, none, off, no_lr, got "x"',
    ],
    [
      'tasks that are not there',
      {},
      ['estimate', '--tasks', 'none.jsonl'],
      'command line: the task file none.jsonl does not exist',
    ],
    ['a file that is not there', {}, ['estimate', '--config', 'none.yaml'], 'none.yaml does not exist'],
    [
      'a file of another kind',
      { 'c.toml': '' },
      ['estimate', '--config', 'c.toml'],
      'c.toml: expected .yaml, .json, .mjs or .ts, got ".toml"',
    ],
    ['a list', { 'c.yaml': '- a' }, ['estimate', '--config', 'c.yaml'], 'c.yaml: expected keys and values, got a list'],
    [
      'text',
      { 'c.yaml': 'hello' },
      ['estimate', '--config', 'c.yaml'],
      'c.yaml: expected keys and values, got "hello"',
    ],
    [
      'broken JSON',
      { 'c.json': '{\n "seed": 3\n "name": 4 }' },
      ['estimate', '--config', 'c.json'],
      expect.stringMatching(/^c\.json cannot be read: .*line 3/),
    ],
    [
      'broken YAML',
      { 'c.yaml': 'a: [1\nb: 2' },
      ['estimate', '--config', 'c.yaml'],
      expect.stringMatching(/^c\.yaml cannot be read: .*at line 2, column 1/),
    ],
    [
      'the same key twice',
      { 'c.yaml': 'seed: 1\nseed: 2' },
      ['estimate', '--config', 'c.yaml'],
      expect.stringMatching(/^c\.yaml cannot be read: Map keys must be unique at line 2/),
    ],
    [
      'no end of levels',
      { 'c.json': `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}` },
      ['estimate', '--config', 'c.json'],
      'c.json: expected settings, got nested more than 100 levels deep, or in a circle',
    ],
  ])('%s', async (_, files, argv, error) => {
    expect(await complain(files, argv)).toEqual({ code: 2, error, hint: expect.any(String) });
  });
});

describe('a config of SkillOpt names its line and its own key', () => {
  it.each([
    ['train:\n  batch_size: many', 'x.yaml:2: train.batch_size: expected a number, got "many"'],
    ['env: {}\nbatch_size: 0', 'x.yaml:2: train.batch_size: expected more than 0, got 0'],
    [
      'optimizer:\n  lr_scheduler: cosin',
      'x.yaml:2: optimizer.lr_scheduler: expected one of constant, linear, cosine, autonomous, got "cosin" — did you mean cosine?',
    ],
    ['evaluation:\n  gate_metric: f1', 'x.yaml:2: evaluation.gate_metric: expected one of hard, soft, mixed, got "f1"'],
    ['evaluation:\n  gate_mixed_weight: 2', 'x.yaml:2: evaluation.gate_mixed_weight: expected at most 1, got 2'],
    [
      'optimizer:\n  longitudinal_pair_policy: mixd',
      'x.yaml:2: optimizer.longitudinal_pair_policy: expected one of mixed, default, random, all, changed, change, delta, 10_01, 01_10, unchanged, stable, same, 00_11, got "mixd" — did you mean mixed?',
    ],
    [
      'env:\n  split_ratio: "1:1"',
      'x.yaml:2: env.split_ratio: expected three positive numbers such as 4:3:3, got "1:1"',
    ],
    ['env:\n  exec_timeout: soon', 'x.yaml:2: env.exec_timeout: expected a number, got "soon"'],
    ['env:\n  name: swebench', 'x.yaml:2: unknown environment "swebench"'],
    ['env:\n  skill_init: none.md', 'x.yaml:2: the skill document none.md does not exist'],
    ['model:\n  backend: qwne', 'x.yaml:2: model.backend: unknown backend "qwne" — did you mean qwen?'],
    [
      'model:\n  minimax_api_key: hush',
      'x.yaml:2: model.minimax_api_key looks like a secret, and a config must not hold secrets',
    ],
    ['train: 5\nenv: {}', 'x.yaml: train must be a section with keys, got 5'],
    ['_base_: base.yaml', 'base.yaml:3: gradient.minibatch_size: expected a number, got "x"'],
    ['_base_: [a]', 'x.yaml:1: _base_ must be one path, got ["a"]'],
  ])('%j', async (text, error) => {
    const files = {
      'x.yaml': `${text}\ntasks: tasks.jsonl\ntarget: simulated\n`,
      'base.yaml': '# below\ngradient:\n  minibatch_size: x\n',
    };
    expect(await complain(files, ['estimate', '--config', 'x.yaml'])).toEqual({
      code: 2,
      error,
      hint: expect.any(String),
    });
  });
});
