import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { loadProject, readConfigFile, resolveModel } from '../../../src/project/index.ts';
import { isSkillOptConfig, loadSkillOptConfig } from '../../../src/project/skillopt-config/load-skillopt-config.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/skillopt-configs/', import.meta.url));

async function load(file: string, overrides: readonly string[] = []) {
  return loadSkillOptConfig({ file, raw: await readConfigFile(file), overrides });
}

/** What one file says in our words. */
async function translate(text: string, overrides: readonly string[] = []) {
  using folder = tempFolder({ 'x.yaml': text });
  return await load(join(folder.path, 'x.yaml'), overrides);
}

const inputOf = async (text: string, overrides: readonly string[] = []) => (await translate(text, overrides)).input;

/** What a file means without saying it. */
const meant = { preset: 'paper', slowUpdateGate: false, optimizerMaxCompletionTokens: 16_384, splitRatio: '2:1:7' };

describe('the settings of the six benchmarks', () => {
  const model = {
    provider: 'azure',
    model: 'gpt-5.5',
    reasoningEffort: 'medium',
    apiVersion: '2024-12-01-preview',
  };
  const common = {
    preset: 'paper',
    optimizerMaxCompletionTokens: 16_384,
    optimizer: model,
    target: model,
    rewriteMaxCompletionTokens: 64000,
    numEpochs: 4,
    trainSize: 0,
    batchSize: 40,
    accumulation: 1,
    seed: 42,
    minibatchSize: 8,
    mergeBatchSize: 8,
    failureOnly: false,
    editBudget: 4,
    minEditBudget: 2,
    lrScheduler: 'cosine',
    lrControlMode: 'fixed',
    skillUpdateMode: 'patch',
    useSlowUpdate: true,
    slowUpdateSamples: 20,
    slowUpdateGate: false,
    longitudinalPairPolicy: 'mixed',
    useMetaSkill: true,
    useSkillAwareReflection: false,
    skillAwareAppendixSource: 'both',
    skillAwareConsolidateThreshold: 0,
    useGate: true,
    selEnvNum: 0,
    testEnvNum: 0,
    evalTest: true,
    splitMode: 'split_dir',
    splitRatio: '2:1:7',
    splitSeed: 42,
    rolloutTimeoutMs: 600_000,
  };
  const benchmarks = {
    searchqa: {
      trainSize: 400,
      workers: 24,
      skill: 'envs/searchqa/initial.md',
      splitDir: 'data/searchqa_split',
      extras: { exec_timeout: 120, max_turns: 1 },
    },
    spreadsheetbench: {
      workers: 24,
      rolloutTimeoutMs: 660_000,
      splitDir: 'data/spreadsheetbench_split',
      extras: { exec_timeout: 600, max_turns: 30, mode: 'multi', data_root: 'data/spreadsheetbench_verified_400' },
    },
    officeqa: {
      workers: 16,
      splitDir: 'data/officeqa_split',
      extras: {
        exec_timeout: 120,
        max_tool_turns: 24,
        search_mode: 'offline',
        data_dirs: ['data/officeqa/pages', 'data/officeqa/tables'],
      },
    },
    docvqa: {
      workers: 16,
      splitDir: 'data/docvqa_split',
      extras: { exec_timeout: 120, image_detail: 'auto' },
    },
    livemathematicianbench: {
      workers: 64,
      splitDir: 'data/livemath_split',
      extras: { exec_timeout: 300, shuffle_choices: true, use_theorem: false, use_sketch: false },
    },
    alfworld: {
      workers: 16,
      splitDir: 'data/alfworld_split',
      extras: { exec_timeout: 120, max_steps: 50, max_api_workers: 8 },
    },
  };

  it.each(Object.entries(benchmarks))('%s loads through its base, without a warning', async (env, own) => {
    const { input, warning } = await load(join(FIXTURES, env, 'default.yaml'));
    expect(input).toEqual({ ...common, env, ...own });
    expect(warning).toBeUndefined();
  });

  it('take a base of a base', async () => {
    const { input } = await load(join(FIXTURES, 'soft_gate.yaml'));
    expect(input).toMatchObject({ gateMetric: 'soft', env: 'searchqa', batchSize: 40 });
  });

  it('are projects, with paths from where the command runs', async () => {
    const config = join(FIXTURES, 'searchqa/default.yaml');
    const { project, directory, warnings } = await loadProject({ flags: {}, config, cwd: '/somewhere' });
    expect(project).toMatchObject({ env: 'searchqa', workers: 24, skill: '/somewhere/envs/searchqa/initial.md' });
    expect(project).toMatchObject({ splitDir: '/somewhere/data/searchqa_split', maxSkillTokens: 0 });
    expect([directory, warnings]).toEqual(['/somewhere', []]);
  });
});

describe('defect 1: the section env is lost', () => {
  it('is kept beside every other section, and reaches the environment', async () => {
    const text = 'env: { name: ./mine.mjs, workers: 3, my_own_knob: [1, 2] }\ntrain: { batch_size: 5 }';
    using folder = tempFolder({ 'configs/x.yaml': text });
    const { project } = await loadProject({ flags: {}, config: 'configs/x.yaml', cwd: folder.path });
    expect(project.env).toBe(join(folder.path, 'mine.mjs'));
    expect(project).toMatchObject({ workers: 3, batchSize: 5, extras: { my_own_knob: [1, 2] } });
  });
});

describe('a base', () => {
  const chain = async (child: string, base: string) => {
    using folder = tempFolder({ 'deep/x.yaml': `_base_: ../b.yaml\n${child}`, 'b.yaml': base });
    return (await load(join(folder.path, 'deep/x.yaml'))).input;
  };

  it('is overridden in either spelling', async () => {
    expect(await chain('edit_budget: 9', 'optimizer: { learning_rate: 4, min_learning_rate: 1 }')).toMatchObject({
      editBudget: 9,
      minEditBudget: 1,
    });
    expect(await chain('optimizer: { learning_rate: 9 }', 'edit_budget: 4')).toMatchObject({ editBudget: 9 });
    expect(await chain('env: other', 'env: { name: one, limit: 3 }')).toMatchObject({
      env: 'other',
      extras: { limit: 3 },
    });
    expect(await chain('env: { name: other }', 'env: one\nlimit: 3')).toMatchObject({
      env: 'other',
      extras: { limit: 3 },
    });
  });

  it('merges maps and replaces everything else', async () => {
    const child = 'env: { knobs: { b: 3 }, data_dirs: [c] }';
    const base = 'env: { knobs: { a: 1, b: 2 }, data_dirs: [a, b] }';
    expect((await chain(child, base)).extras).toMatchObject({ knobs: { a: 1, b: 3 }, data_dirs: ['c'] });
  });

  it('is emptied by a blank', async () => {
    expect(await chain('env: { skill_init: "" }', 'env: { skill_init: a.md }')).not.toHaveProperty('skill');
  });

  it.each([
    [{ 'x.yaml': '_base_: y.yaml', 'y.yaml': '_base_: x.yaml' }, '_base_ goes in a circle: x.yaml → y.yaml → x.yaml'],
    [{ 'x.yaml': '_base_: x.yaml' }, 'x.yaml → x.yaml'],
    [{ 'x.yaml': '_base_: [a.yaml, b.yaml]' }, '_base_ must be one path, got ["a.yaml","b.yaml"]'],
    [{ 'x.yaml': '_base_: none.yaml' }, 'the _base_ of x.yaml: '],
    [{ 'x.yaml': '_base_: y.yaml', 'y.yaml': '- 1' }, 'the _base_ of x.yaml: y.yaml: expected keys and values'],
    [{ 'x.yaml': '_base_: y.yaml', 'y.yaml': 'azure_api_key: hush' }, 'y.yaml:1: azure_api_key looks like a secret'],
    [{ 'x.yaml': 'train: 5\nenv: {}' }, 'x.yaml: train must be a section with keys, got 5'],
  ])('is refused in %j', async (files, message) => {
    using folder = tempFolder(files);
    const problem = { code: 'CONFIG_INVALID', message: expect.stringContaining(message) };
    await expect(load(join(folder.path, 'x.yaml'))).rejects.toMatchObject(problem);
  });
});

describe('one file', () => {
  it('may be flat, as older ones are', async () => {
    const text = [
      'env: searchqa',
      'batch_size: 7',
      'edit_budget: 3',
      'min_edit_budget: 1',
      'optimizer_model: o',
      'target_model: t',
      'max_turns: 2',
      'their_own: x',
    ].join('\n');
    expect(await inputOf(text)).toEqual({
      ...meant,
      env: 'searchqa',
      batchSize: 7,
      editBudget: 3,
      minEditBudget: 1,
      optimizer: 'openai:o',
      target: 'openai:t',
      splitRatio: '2:1:7',
      extras: { max_turns: 2, their_own: 'x' },
    });
  });

  it('lets the section win over the flat name, wherever it stands', async () => {
    for (const text of [
      'edit_budget: 1\noptimizer: { learning_rate: 9 }',
      'optimizer: { learning_rate: 9 }\nedit_budget: 1',
    ])
      expect(await inputOf(text)).toMatchObject({ editBudget: 9 });
  });

  it('may have keys of ours at its top', async () => {
    const text =
      'train: { batch_size: 5 }\nmaxCostUsd: 2\ntarget: openai:mine\noptimizer: { provider: openai, model: m }';
    expect(await inputOf(text)).toMatchObject({
      batchSize: 5,
      maxCostUsd: 2,
      target: 'openai:mine',
      optimizer: { provider: 'openai', model: 'm' },
    });
  });

  it('takes the larger number of workers', async () => {
    expect(await inputOf('gradient: { analyst_workers: 16 }\nenv: { workers: 4 }')).toMatchObject({ workers: 16 });
    expect(await inputOf('gradient: { analyst_workers: 16 }\nenv: { workers: 64 }')).toMatchObject({ workers: 64 });
    expect(await inputOf('env: { workers: 4 }')).toMatchObject({ workers: 4 });
  });

  it('means the protocol of SkillOpt where it says nothing', async () => {
    expect(await inputOf('env: { name: qa }')).toEqual({
      ...meant,
      env: 'qa',
      extras: { maxCompletionTokens: 16_384 },
    });
  });

  it('knows the switches of older YAML', async () => {
    expect(await inputOf('evaluation: { use_gate: off, eval_test: yes }')).toMatchObject({
      useGate: false,
      evalTest: true,
    });
  });

  it.each([
    ['lr_control_mode', 'lrControlMode', 'fixed', 'fixed manual scheduler scheduled Manual'],
    ['lr_control_mode', 'lrControlMode', 'autonomous', 'autonomous auto optimizer'],
    ['lr_control_mode', 'lrControlMode', 'none', 'none off no_lr'],
    ['longitudinal_pair_policy', 'longitudinalPairPolicy', 'mixed', 'mixed default random all'],
    ['longitudinal_pair_policy', 'longitudinalPairPolicy', 'changed', 'changed change delta 10_01 01_10'],
    ['longitudinal_pair_policy', 'longitudinalPairPolicy', 'unchanged', 'unchanged stable same 00_11'],
    ['skill_update_mode', 'skillUpdateMode', 'patch', 'patch edits'],
    [
      'skill_update_mode',
      'skillUpdateMode',
      'rewrite_from_suggestions',
      'rewrite_from_suggestions rewrite suggestions rewrite_suggestions',
    ],
    [
      'skill_update_mode',
      'skillUpdateMode',
      'full_rewrite_minibatch',
      'full_rewrite_minibatch full_rewrite minibatch_full_rewrite skill_rewrite_minibatch',
    ],
  ])('reads %s as %s %s: %s', async (key, to, word, theirs) => {
    for (const value of theirs.split(' ')) {
      expect(await inputOf(`optimizer: { ${key}: "${value}" }`)).toMatchObject({ [to]: word });
    }
  });

  it.each(['lr_control_mode', 'longitudinal_pair_policy', 'skill_update_mode'])(
    'refuses an unknown %s',
    async (key) => {
      const problem = {
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(`x.yaml:1: optimizer.${key}: expected one of `),
      };
      await expect(translate(`optimizer: { ${key}: toString }`)).rejects.toMatchObject(problem);
    },
  );
});

describe('defect 5: lr_control_mode none is ignored outside full rewrite', () => {
  it('is taken over in every update mode', async () => {
    expect(await inputOf('optimizer: { lr_control_mode: none, skill_update_mode: patch }')).toMatchObject({
      lrControlMode: 'none',
      skillUpdateMode: 'patch',
    });
  });
});

describe('the models of a config', () => {
  const models = async (text: string) => {
    const { optimizer, target } = await inputOf(`model: { ${text} }`);
    return { optimizer, target };
  };

  it.each([
    ['optimizer: o, target: t', 'openai:o', 'openai:t'],
    ['optimizer: o, target: t, backend: claude', 'claude-cli:o', 'claude-cli:t'],
    [
      'optimizer: gpt-5.5, target: gpt-5.4, backend: anthropic',
      'claude-cli:claude-sonnet-4-6',
      'claude-cli:claude-sonnet-4-6',
    ],
    ['optimizer: o, target: t, backend: codex', 'codex-cli:o', { agent: 'codex', model: 't' }],
    ['optimizer: gpt-5.5, target: gpt-5.5, backend: copilot', 'copilot-cli', 'copilot-cli'],
    ['optimizer: o, target: gpt-5.5, backend: qwen', 'openai:o', 'qwen:Qwen/Qwen3.5-4B'],
    ['optimizer: o, target: gpt-5.5, backend: minimax', 'openai:o', 'minimax:MiniMax-M3'],
    ['optimizer: o, target: t, backend: cursor', 'openai:o', { agent: 'cursor', model: 't' }],
    ['optimizer: o, target: t, backend: claude_code_exec', 'openai:o', { agent: 'claude', model: 't' }],
    ['optimizer: o, target: gpt-5.5, backend: copilot_exec', 'openai:o', { agent: 'copilot' }],
    ['optimizer: o, target: t, backend: compat', 'compatible:o', 'compatible:t'],
    ['optimizer: o, target: t, backend: qwen, optimizer_backend: claude_chat', 'claude-cli:o', 'qwen:t'],
    ['optimizer: o, target: t, backend: claude, target_backend: openai_chat', 'claude-cli:o', 'claude-cli:t'],
    ['optimizer: o, target: t, backend: claude, target_backend: minimax_chat', 'claude-cli:o', 'minimax:t'],
    ['target: t', undefined, 'openai:t'],
  ])('{ %s } are %s and %s', async (text, optimizer, target) => {
    expect(await models(text)).toEqual({ optimizer, target });
  });

  it('are on Azure with an endpoint, for a role or for both', async () => {
    const text = `optimizer: o, target: t, azure_openai_endpoint: "https://a.example",
      target_azure_openai_endpoint: "https://b.example", azure_openai_api_version: v, target_azure_openai_api_version: "",
      target_azure_openai_api_key: "\${TARGET_KEY}"`;
    expect(await models(text)).toEqual({
      optimizer: { provider: 'azure', model: 'o', baseURL: 'https://a.example', apiVersion: 'v' },
      target: { provider: 'azure', model: 't', baseURL: 'https://b.example', apiVersion: 'v', apiKeyEnv: 'TARGET_KEY' },
    });
    const old = 'optimizer: o, azure_endpoint: "https://a.example", azure_api_version: v';
    expect((await models(old)).optimizer).toEqual({
      provider: 'azure',
      model: 'o',
      baseURL: 'https://a.example',
      apiVersion: 'v',
    });
  });

  it('are at any other address when the endpoint is compatible', async () => {
    const text =
      'target: t, backend: azure_openai, azure_openai_endpoint: "http://h/v1", azure_openai_auth_mode: openai_compatible';
    expect((await models(text)).target).toEqual({ provider: 'openai', model: 't', baseURL: 'http://h/v1' });
  });

  it('carry the options of Qwen and MiniMax', async () => {
    const text = `backend: qwen, target: q, qwen_chat_base_url: "http://h/v1", qwen_chat_temperature: 0,
      qwen_chat_enable_thinking: true, qwen_chat_timeout_seconds: 300`;
    expect((await models(text)).target).toEqual({
      provider: 'qwen',
      model: 'q',
      baseURL: 'http://h/v1',
      temperature: 0,
      thinkingMode: 'enabled',
    });
    expect((await inputOf(`model: { ${text} }`)).callTimeoutMs).toBe(300_000);
    const other = `backend: minimax, target: gpt-5.5, minimax_model: M2, minimax_region: cn, minimax_temperature: "0.7",
      minimax_enable_thinking: "false", target_minimax_temperature: "1"`;
    expect((await models(other)).target).toEqual({
      provider: 'minimax',
      model: 'M2',
      region: 'cn',
      temperature: 1,
      thinking: 'disabled',
    });
  });

  it.each([
    ['backend: qwne', 'x.yaml:1: model.backend: unknown backend "qwne" — did you mean qwen?'],
    ['target_backend: toString', 'model.target_backend: unknown backend "toString"'],
    [
      'target: t, azure_openai_auth_mode: kerberos',
      'x.yaml:1: model.azure_openai_auth_mode: expected one of key, api_key',
    ],
    [
      'backend: qwen, target: t, qwen_chat_thinking_mode: maybe',
      'x.yaml:1: model.qwen_chat_thinking_mode: expected one of',
    ],
    [
      'backend: minimax, target: t, target_minimax_region: mars',
      'x.yaml:1: model.target_minimax_region: expected one of',
    ],
    [
      'backend: qwen, target: t, qwen_chat_timeout_seconds: soon',
      'qwen_chat_timeout_seconds: expected a number, got "soon"',
    ],
  ])('{ %s } is refused', async (text, message) => {
    await expect(models(text)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message),
    });
  });

  it('that run an agent have its path and its time', async () => {
    const text = `model: { target: t, target_backend: claude_code_exec, claude_code_exec_path: /opt/claude }
env: { exec_timeout: 300 }`;
    expect(await inputOf(text)).toMatchObject({
      target: { agent: 'claude', model: 't', path: '/opt/claude', limits: { timeoutMs: 300_000 } },
      rolloutTimeoutMs: expect.any(Number),
    });
    expect(await inputOf('model: { backend: codex, target: t, codex_exec_path: /opt/codex }')).toMatchObject({
      target: { agent: 'codex', path: '/opt/codex' },
    });
  });

  it.each(['claude_code_exec', 'cursor_exec', 'copilot_exec'])(
    'that optimize as %s are refused by name',
    async (backend) => {
      using folder = tempFolder({ 'x.yaml': `model: { optimizer: o, target: t, optimizer_backend: ${backend} }` });
      const { project } = await loadProject({ flags: {}, config: 'x.yaml', cwd: folder.path });
      const resolved = resolveModel(project.optimizer, { role: 'optimizer', env: {} });
      await expect(resolved).rejects.toThrow(
        `optimizer: ${backend} is not a chat model: it runs an agent in a folder of files`,
      );
      const other = await loadProject({ flags: { optimizer: 'simulated' }, config: 'x.yaml', cwd: folder.path });
      expect(other.project.optimizer).toBe('simulated');
    },
  );

  it('that run an agent say what of their settings our sandbox does', async () => {
    const { warning } = await translate(
      'model: { target: t, target_backend: codex_exec, codex_exec_sandbox: read-only, codex_exec_use_sdk: true, codex_exec_profile: p }',
    );
    expect(warning).toMatchInlineSnapshot(`
      "x.yaml: without effect here:
        model.codex_exec_sandbox: The agent works in our sandbox, and its own sandbox is off. Ours is auto, bubblewrap, none or a container. Set sandbox.
        model.codex_exec_use_sdk: The CLI runs as it is installed: without an SDK, and with its default settings.
        model.codex_exec_profile: Each attempt has a home folder of its own, without profiles and sessions."
    `);
  });

  it('know the older names of the path of Codex', async () => {
    const path = async (text: string) => (await models(`optimizer: o, optimizer_backend: codex, ${text}`)).optimizer;
    for (const name of ['codex_path', 'codex_cli_bin', 'codex_bin', 'codex_exec_path'])
      expect(await path(`${name}: /opt/codex`)).toMatchObject({
        provider: 'codex-cli',
        model: 'o',
        path: '/opt/codex',
      });
    expect(await path('codex_exec_path: /new, codex_bin: /old')).toMatchObject({ path: '/new' });
    const flat = 'optimizer_model: o\noptimizer_backend: codex\n';
    expect(await inputOf(`${flat}codex_exec_path: /new\ncodex_bin: /old`)).toMatchObject({
      optimizer: { path: '/new' },
    });
    expect(await inputOf(`${flat}codex_bin: /flat`)).toMatchObject({
      optimizer: { path: '/flat' },
    });
  });
});

describe('defect 15: a blank key of a role overrides the shared thinking mode', () => {
  it('leaves the shared one in force', async () => {
    const { target } = await inputOf(`model: { backend: qwen, target: q, qwen_chat_thinking_mode: disabled,
      target_qwen_chat_thinking_mode: "", qwen_chat_enable_thinking: true }`);
    expect(target).toEqual({ provider: 'qwen', model: 'q', thinkingMode: 'disabled' });
  });
});

describe('defect 22: replies are cut to 8,000 tokens in silence', () => {
  it('cuts nothing, and says so when a file asks for it', async () => {
    const { input, warning } = await translate('model: { backend: qwen, target: q, qwen_chat_max_tokens: 9000 }');
    expect(input.target).toBe('qwen:q');
    expect(warning).toContain('model.qwen_chat_max_tokens: ');
    expect(warning).toContain('Set optimizerMaxCompletionTokens');
  });
});

describe('what has no effect', () => {
  it('is named in one warning', async () => {
    const { warning } = await translate(
      [
        'model: { target: t, rewrite_reasoning_effort: high, colour: red }',
        'optimizer: { meta_learning_rate: 2, learning_rat: 3 }',
        'evaluation: { use_semantic_density: true }',
        'env: { slit_dir: x, knob: 1, max_turns: 3, use_theorem: false }',
        'logging: { level: debug }',
      ].join('\n'),
    );
    expect(warning).toMatchInlineSnapshot(`
      "x.yaml: without effect here:
        model.rewrite_reasoning_effort: Rewrites use the same effort as all other calls.
        model.colour: unknown
        optimizer.meta_learning_rate: SkillOpt does not read it either.
        optimizer.learning_rat: unknown — did you mean learning_rate?
        evaluation.use_semantic_density: This score rewards emphatic words. Our gate compares only the scores of tasks.
        env.logging: unknown, handed to the environment as extras.logging
        env.slit_dir: unknown, handed to the environment as extras.slit_dir — did you mean split_dir?
        env.knob: unknown, handed to the environment as extras.knob
        env.max_turns: For other environments: qa does not read it.
        env.use_theorem: For other environments: qa does not read it."
    `);
  });

  it('is not worth a word when it is blank, at its default, or of a backend nobody uses', async () => {
    const text = `model: { target: t, codex_exec_sandbox: read-only, minimax_max_tokens: 4000, rewrite_reasoning_effort: "" }
evaluation: { use_semantic_density: false, leading_words: null }`;
    expect((await translate(text)).warning).toBeUndefined();
  });

  it('is the effort of an agent CLI', async () => {
    const { warning } = await translate('model: { backend: claude, target: t, reasoning_effort: high }');
    expect(warning).toBe(
      'x.yaml: without effect here:\n  model.reasoning_effort: For OpenAI and Azure. Agent CLIs do not get it.',
    );
  });
});

describe('defect 36: secrets are written in clear', () => {
  it.each([
    ['model: { optimizer_qwen_chat_api_key: hush-1234567 }', 'OPTIMIZER_QWEN_CHAT_API_KEY'],
    ['azure_api_key: hush-1234567', 'AZURE_OPENAI_API_KEY'],
    ['env: { search_auth_env: sk-hush-1234567 }', 'OPENAI_API_KEY'],
    ['env: { note: sk-ant-hush-1234567 }', 'ANTHROPIC_API_KEY'],
    ['env: { data_dirs: [Bearer hush-1234567] }', 'API_TOKEN'],
    ['env: { search_api_url: "https://me:hush-1234567@host" }', 'SEARCH_API_URL'],
    ['model: { target: t }\nopenai_api_key: hush-1234567', 'OPENAI_API_KEY'],
    ['env: { deep: { password: hush-1234567 } }', 'PASSWORD'],
  ])('%j never gets that far', async (text, variable) => {
    const error = await translate(text).catch((error: Error) => error as Error & { hint: string });
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', hint: expect.stringContaining(`export ${variable}=…`) });
    expect(JSON.stringify(error) + String(error)).not.toContain('hush');
  });

  it('neither from the command line, with exit code 2', async () => {
    using folder = tempFolder({ 'x.yaml': 'model: { target: t }' });
    const io = captureIo({ cwd: folder.path });
    const code = await runCli(['train', '--config', 'x.yaml', '--set', 'model.minimax_api_key=hush'], io);
    expect(code).toBe(2);
    expect(io.err()).toContain('export MINIMAX_API_KEY=…');
    expect(io.err()).not.toContain('hush');
  });
});

describe('--set', () => {
  const text = 'train: { batch_size: 5 }\nmodel: { target: t }';

  it.each([
    ['train.batch_size=9', { batchSize: 9 }],
    ['batch_size=9', { batchSize: 9 }],
    ['learning_rate=9', { editBudget: 9 }],
    ['edit_budget=9', { editBudget: 9 }],
    ['batchSize=9', { batchSize: 9 }],
    ['evaluation.use_gate=No', { useGate: false }],
    ['evaluation.use_gate=yes', { useGate: true }],
    ['gate_mixed_weight=.25', { gateMixedWeight: 0.25 }],
    ['gate_mixed_weight=1e-1', { gateMixedWeight: 0.1 }],
    ['env.use_theorem=YES', { extras: { use_theorem: true } }],
    ['env.use_sketch=no', { extras: { use_sketch: false } }],
    ['env.limit=-3', { extras: { limit: -3 } }],
    ['env.mode=null', { extras: { mode: 'null' } }],
    ['env.mode=[1]', { extras: { mode: '[1]' } }],
    ['env.split_ratio=1:1:8', { splitRatio: '1:1:8' }],
    ['env.search_api_url=http://h?a=b', { extras: { search_api_url: 'http://h?a=b' } }],
    ['env=other', { env: 'other' }],
    ['model.backend=claude', { target: 'claude-cli:t' }],
    ['target_model=u', { target: 'openai:u' }],
  ])('%s is over the file', async (override, expected) => {
    expect(await inputOf(text, [override])).toMatchObject(expected);
  });

  it('may come again, and the last one wins', async () => {
    expect(await inputOf(text, ['batch_size=7', 'seed=1', 'train.batch_size=8'])).toMatchObject({
      batchSize: 8,
      seed: 1,
    });
  });

  it.each([
    ['train.bach_size=3', 'unknown key train.bach_size — did you mean train.batch_size?'],
    ['trian.batch_size=3', 'unknown key trian.batch_size — did you mean train.batch_size?'],
    ['edit_budgt=3', 'unknown key edit_budgt — did you mean edit_budget?'],
    ['batch_size', '--set expects key=value, got "batch_size"'],
    ['=3', '--set expects key=value'],
  ])('%s is refused', async (override, message) => {
    const problem = { code: 'USAGE', message: expect.stringContaining(message) };
    await expect(translate(text, [override])).rejects.toMatchObject(problem);
  });

  it('works over a file of ours, where models are named by flags', async () => {
    using folder = tempFolder({ 'skillopt.config.yaml': 'batchSize: 5\nsplitRatio: 1:1:1\nextras: { a: 1 }' });
    const set = (...overrides: string[]) => loadProject({ flags: { seed: 3 }, cwd: folder.path, overrides });
    const { project } = await set('learning_rate=6', 'env.max_turns=2', 'numEpochs=1', 'seed=1', 'skill_init=a.md');
    expect(project).toMatchObject({ batchSize: 5, editBudget: 6, numEpochs: 1, seed: 3, splitRatio: '1:1:1' });
    expect(project).toMatchObject({ extras: { a: 1, max_turns: 2 }, skill: join(folder.path, 'a.md') });
    await expect(set('model.target=x')).rejects.toMatchObject({
      code: 'USAGE',
      hint: expect.stringContaining('--target'),
    });
  });
});

describe('which language a file speaks', () => {
  it.each([
    [{ _base_: 'x.yaml' }, true],
    [{ train: {} }, true],
    [{ env: { name: 'qa' } }, true],
    [{ optimizer: { learning_rate: 4 } }, true],
    [{ batch_size: 4 }, true],
    [{ seed: 1, edit_budget: 2 }, true],
    [{ env: 'qa', optimizer: 'openai:m', seed: 1 }, false],
    [{ optimizer: { provider: 'openai', model: 'm' }, tasks: 't.jsonl' }, false],
    [{ batchSize: 4, batch_size: 4 }, false],
    [{ tasks: 't.jsonl', batch_size: 4 }, false],
    [{ workers: 4 }, false],
    [{}, false],
  ])('%j: SkillOpt %s', (raw, expected) => expect(isSkillOptConfig(raw)).toBe(expected));
});

describe('skillopt train --config', () => {
  const tasks = ['train', 'val', 'test'].map((split) =>
    JSON.stringify({ id: split, question: 'q', answers: ['a'], split }),
  );
  const config = [
    'model: { rewrite_reasoning_effort: high }',
    'train: { batch_size: 1, num_epochs: 2 }',
    'env: { name: qa, out_root: out/here }',
    'tasks: tasks.jsonl',
    'target: simulated',
    'optimizer: { provider: simulated }',
  ].join('\n');

  it('trains with a config of SkillOpt, and warns once', async () => {
    using folder = tempFolder({ 'configs/x.yaml': config, 'tasks.jsonl': tasks.join('\n') });
    const io = captureIo({ cwd: folder.path });
    const argv = ['train', '--config', 'configs/x.yaml', '--set', 'train.num_epochs=1', '--set', 'seed=5', '--quiet'];
    // Exit code 1: the simulated optimizer does not know these tasks, so that nothing it says can be used.
    expect([await runCli(argv, io), io.err()]).toEqual([
      1,
      expect.stringMatching(/^warning: x\.yaml: without effect here:\n/),
    ]);
    expect(io.err().match(/without effect/g)).toHaveLength(1);
    const written = readFileSync(join(folder.path, 'out/here/config.json'), 'utf8');
    expect(JSON.parse(written)).toMatchObject({ num_epochs: 1, batch_size: 1, seed: 5 });
  });

  it('is examined with the same warning', async () => {
    using folder = tempFolder({ 'x.yaml': config, 'tasks.jsonl': tasks.join('\n') });
    const io = captureIo({ cwd: folder.path });
    expect(await runCli(['doctor', '--config', 'x.yaml', '--json'], io)).toBe(0);
    expect(io.err()).toMatch(
      /^note: x\.yaml .*\nwarning: x\.yaml: without effect here:\n.*model\.rewrite_reasoning_effort/,
    );
    expect(JSON.parse(io.out())).toMatchObject({ isOk: true });
  });

  it('is estimated in the same words', async () => {
    using folder = tempFolder({ 'x.yaml': config, 'tasks.jsonl': tasks.join('\n') });
    const calls = async (...set: string[]) => {
      const io = captureIo({ cwd: folder.path });
      expect(await runCli(['estimate', '--config', 'x.yaml', '--json', ...set], io)).toBe(0);
      expect(io.err()).toContain('model.rewrite_reasoning_effort');
      return (JSON.parse(io.out()) as { totals: { calls: { high: number } } }).totals.calls.high;
    };
    expect(await calls('--set', 'num_epochs=1')).toBeLessThan(await calls());
  });
});
