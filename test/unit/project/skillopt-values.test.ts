import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { loadProject, resolveModel } from '../../../src/project/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function projectOf(text: string) {
  using folder = tempFolder({ 'x.yaml': text });
  return (await loadProject({ flags: {}, config: 'x.yaml', cwd: folder.path })).project;
}

/** The target of a file, resolved: what is in its id is what is sent. */
async function targetId(model: string, env: Readonly<Record<string, string>> = {}) {
  const { target } = await projectOf(`model: { target: m, ${model} }`);
  return (await resolveModel(target, { role: 'target', env: { MINIMAX_API_KEY: 'dummy', ...env } })).id;
}

describe('what SkillOpt takes in its section model', () => {
  it.each([
    ['global_en', 'api.minimax.io'],
    ['Global-EN', 'api.minimax.io'],
    ['global', 'api.minimax.io'],
    ['cn_zh', 'api.minimaxi.com'],
    ['" CN_ZH "', 'api.minimaxi.com'],
    ['cn', 'api.minimaxi.com'],
    ['""', 'api.minimax.io'],
    ['null', 'api.minimax.io'],
  ])('minimax_region: %s', async (region, host) => {
    expect(await targetId(`backend: minimax, minimax_region: ${region}`)).toContain(`@${host}/v1`);
  });

  const THINKING = {
    enabled: ['on', 'true', 'True', 'yes', '1', '"1"', 'enabled', 'ENABLED', 'enable'],
    disabled: ['off', 'false', 'no', '0', 'disabled', 'DISABLED', '"False"'],
    server_default: ['auto', 'default', 'server_default', 'server-default', '" Auto "', '""', 'null'],
  };
  it.each(Object.entries(THINKING).flatMap(([mode, words]) => words.map((word) => [word, mode])))(
    'qwen_chat_thinking_mode: %s is %s',
    async (word, mode) => {
      const id = await targetId(`backend: qwen, qwen_chat_thinking_mode: ${word}`);
      const sent = { enabled: 'enable_thinking":true', disabled: 'enable_thinking":false', server_default: '' }[mode];
      expect(decodeURIComponent(id)).toContain(sent);
      if (mode === 'server_default') expect(id).not.toContain('enable_thinking');
    },
  );

  it.each([
    ['on', 'adaptive'],
    ['"TRUE"', 'adaptive'],
    ['1', 'adaptive'],
    ['"false"', 'disabled'],
    ['off', 'disabled'],
    ['0', 'disabled'],
  ])('minimax_enable_thinking: %s is %s', async (word, mode) => {
    expect(await targetId(`backend: minimax, minimax_enable_thinking: ${word}`)).toContain(mode);
  });

  it.each([
    ['github_copilot', 'copilot-cli', 'copilot-cli'],
    ['copilot_cli', 'copilot-cli', 'copilot-cli'],
    ['GitHub-Copilot', 'copilot-cli', 'copilot-cli'],
    ['cursor_agent', 'openai', 'cursor'],
    ['openai_compatible_chat', 'compatible', 'compatible'],
    ['" Azure-OpenAI "', 'azure', 'azure'],
    ['Claude', 'claude-cli', 'claude-cli'],
  ])('backend: %s', async (backend, optimizer, target) => {
    const project = await projectOf(`model: { optimizer: o, target: t, backend: ${backend} }`);
    const providerOf = (spec: unknown) =>
      typeof spec === 'string'
        ? spec.split(':')[0]
        : ((spec as { provider?: string }).provider ?? (spec as { agent: string }).agent);
    expect([providerOf(project.optimizer), providerOf(project.target)]).toEqual([optimizer, target]);
  });

  it.each([
    ['azure_cli', { provider: 'azure', auth: 'entra' }],
    ['Azure_CLI', { provider: 'azure', auth: 'entra' }],
    ['managed_identity', { provider: 'azure', auth: 'entra' }],
    ['azure_ad', { provider: 'azure', auth: 'entra' }],
    ['aad', { provider: 'azure', auth: 'entra' }],
    ['api_key', { provider: 'azure', auth: 'key' }],
    ['key', { provider: 'azure', auth: 'key' }],
    ['openai_compatible', { provider: 'openai' }],
    ['compat', { provider: 'openai' }],
    ['openai', { provider: 'openai' }],
  ])('azure_openai_auth_mode: %s', async (mode, expected) => {
    const { target } = await projectOf(
      `model: { target: t, azure_openai_endpoint: "https://a.example", azure_openai_auth_mode: ${mode} }`,
    );
    expect(target).toEqual({ model: 't', baseURL: 'https://a.example', ...expected });
  });

  it('azure_cli signs in as the account that is signed in to az', async () => {
    const token = JSON.stringify({ accessToken: 'token-of-az', expires_on: 4_000_000_000 });
    using folder = tempFolder({ az: `#!/bin/sh\necho '${token}'\n` });
    chmodSync(join(folder.path, 'az'), 0o755);
    await using server = await startFakeLLM(() => 'fine');
    const text = `model: { backend: azure_openai, target: t, azure_openai_endpoint: "${server.baseURL}", azure_openai_auth_mode: azure_cli }`;
    const { target } = await projectOf(text);
    const env = { PATH: `${folder.path}:/bin:/usr/bin`, AZURE_OPENAI_ENDPOINT: server.baseURL };
    const model = await resolveModel(target, { role: 'target', env });
    await model.complete({ messages: [{ role: 'user', content: 'q' }] });
    expect(server.headers[0]!.authorization).toBe('Bearer token-of-az');
  });

  it.each([
    ['"0.3"', 'temperature=0.3'],
    ['0', 'temperature=0'],
    ['""', 'temperature=0.7'],
  ])('qwen_chat_temperature: %s', async (value, sent) => {
    expect(await targetId(`backend: qwen, qwen_chat_temperature: ${value}`)).toContain(sent);
  });

  it.each(['none', 'off', '"null"', 'None'])('qwen_chat_temperature: %s sends none', async (word) => {
    expect(await targetId(`backend: qwen, qwen_chat_temperature: "${word.replaceAll('"', '')}"`)).not.toContain(
      'temperature',
    );
  });

  it.each(['High', '" high "', 'HIGH'])('reasoning_effort: %s', async (effort) => {
    const { target } = await projectOf(`model: { target: t, reasoning_effort: ${effort} }`);
    expect(target).toEqual({ provider: 'openai', model: 't', reasoningEffort: 'high' });
  });
});

describe('an OpenAI-compatible endpoint in the environment', () => {
  const model = 'backend: openai_compatible';

  it('is where the model is, with its key', async () => {
    await using server = await startFakeLLM(() => 'fine');
    const { target } = await projectOf(`model: { target: m, ${model} }`);
    const env = { OPENAI_COMPATIBLE_BASE_URL: server.baseURL, OPENAI_COMPATIBLE_API_KEY: 'dummy-key' };
    await (await resolveModel(target, { role: 'target', env })).complete({
      messages: [{ role: 'user', content: 'q' }],
    });
    expect(server.headers[0]!.authorization).toBe('Bearer dummy-key');
  });

  it('may be one for a role, and a blank one is none', async () => {
    const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://shared/v1', TARGET_OPENAI_COMPATIBLE_BASE_URL: 'http://own/v1' };
    expect(await targetId(model, env)).toBe('compatible:m@own/v1');
    expect(await targetId(model, { ...env, TARGET_OPENAI_COMPATIBLE_BASE_URL: '' })).toBe('compatible:m@shared/v1');
    await expect(targetId(model)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('export OPENAI_COMPATIBLE_BASE_URL=…'),
    });
  });

  it('is no address for a model that has one, and its key does not go there', async () => {
    await using server = await startFakeLLM(() => 'fine');
    const env = { OPENAI_COMPATIBLE_BASE_URL: 'http://other/v1', OPENAI_COMPATIBLE_API_KEY: 'dummy-key' };
    const spec = { provider: 'compatible', model: 'm', baseURL: server.baseURL };
    await (await resolveModel(spec, { role: 'target', env })).complete({ messages: [{ role: 'user', content: 'q' }] });
    expect(server.headers[0]!.authorization).toBeUndefined();
  });

  it('may stand in the file, as later versions write it', async () => {
    const keys =
      'openai_compatible_base_url: "http://h/v1", openai_compatible_model: mine, openai_compatible_temperature: "0.2"';
    const { target } = await projectOf(`model: { target: gpt-5.5, ${model}, ${keys} }`);
    expect(target).toEqual({ provider: 'compatible', model: 'mine', baseURL: 'http://h/v1', temperature: 0.2 });
  });

  it.each([
    ['is not sent to an address of the file', '', undefined],
    ['is sent there if the file names it', `, qwen_chat_api_key: "\${QWEN_CHAT_API_KEY}"`, 'Bearer dummy-key'],
  ])('has a key for Qwen, which %s', async (_what, more, sent) => {
    await using server = await startFakeLLM(() => 'fine');
    const text = `model: { target: m, backend: qwen, qwen_chat_base_url: "${server.baseURL}"${more} }`;
    const { target } = await projectOf(text);
    const model = await resolveModel(target, { role: 'target', env: { QWEN_CHAT_API_KEY: 'dummy-key' } });
    await model.complete({ messages: [{ role: 'user', content: 'q' }] });
    expect(server.headers[0]!.authorization).toBe(sent);
  });

  it('of Qwen and MiniMax are read too', async () => {
    expect(await targetId('backend: qwen', { QWEN_CHAT_BASE_URL: 'http://q/v1' })).toContain('qwen:m@q/v1');
    expect(await targetId('backend: minimax', { MINIMAX_BASE_URL: 'http://x/v1' })).toContain('minimax:m@x/v1');
  });
});

describe('what SkillOpt takes elsewhere', () => {
  it.each([
    ['train: { batch_size: "20", num_epochs: "2", seed: " 7 " }', { batchSize: 20, numEpochs: 2, seed: 7 }],
    [
      'train: { batch_size: 20.0, train_size: null, accumulation: "" }',
      { batchSize: 20, trainSize: 0, accumulation: 1 },
    ],
    ['train: { batch_size: 1_000 }', { batchSize: 1000 }],
    ['gradient: { minibatch_size: "4", failure_only: "True" }', { minibatchSize: 4, failureOnly: true }],
    ['optimizer: { lr_scheduler: autonomous }', { lrScheduler: 'autonomous' }],
    ['optimizer: { lr_scheduler: " Linear " }', { lrScheduler: 'linear' }],
    ['optimizer: { use_slow_update: 0, use_meta_skill: "off" }', { useSlowUpdate: false, useMetaSkill: false }],
    [
      'optimizer: { use_slow_update: no, use_skill_aware_reflection: on }',
      { useSlowUpdate: false, useSkillAwareReflection: true },
    ],
    ['optimizer: { skill_aware_appendix_source: Failure-Only }', { skillAwareAppendixSource: 'failure_only' }],
    [
      'optimizer: { lr_control_mode: Manual, longitudinal_pair_policy: "10-01" }',
      { lrControlMode: 'fixed', longitudinalPairPolicy: 'changed' },
    ],
    [
      'evaluation: { gate_metric: Soft, gate_mixed_weight: "0.3", use_gate: yes }',
      { gateMetric: 'soft', gateMixedWeight: 0.3, useGate: true },
    ],
    ['evaluation: { eval_test: 1, sel_env_num: "12" }', { evalTest: true, selEnvNum: 12 }],
    ['env: { split_mode: Split_Dir, split_seed: "1" }', { splitMode: 'split_dir', splitSeed: 1 }],
    ['env: { split_ratio: "2 : 1 : 7" }', { splitRatio: '2 : 1 : 7' }],
    ['env: { split_ratio: 2:1:7 }', { splitRatio: '2:1:7' }],
    ['env: { workers: "4", exec_timeout: "900" }', { workers: 4, rolloutTimeoutMs: 960_000 }],
    ['env: { max_completion_tokens: "99" }', { extras: { maxCompletionTokens: 99 } }],
    ['env: { name: ./e.mjs, use_theorem: yes, note: "yes" }', { extras: { use_theorem: true, note: 'yes' } }],
    ['_base_: ""\ntrain: { batch_size: 3 }', { batchSize: 3 }],
    ['_base_:\ntrain: { batch_size: 3 }', { batchSize: 3 }],
    ['shared: &s { batch_size: 3 }\ntrain: { <<: *s, seed: 1 }', { batchSize: 3, seed: 1 }],
    ['train:\nmodel: null\nenv:\ngradient: { minibatch_size: 2 }', { minibatchSize: 2 }],
  ])('%j', async (text, expected) => {
    expect(await projectOf(text)).toMatchObject(expected);
  });

  it('any whole number as text, and any switch in any case', async () => {
    const cased = (word: string) => fc.mixedCase(fc.constant(word));
    const on = fc.oneof(cased('true'), cased('yes'), cased('on'), fc.constant('1'));
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 10_000 }), on, async (size, word) => {
        const project = await projectOf(`train: { batch_size: "${size}" }\nevaluation: { use_gate: "${word}" }`);
        expect(project).toMatchObject({ batchSize: size, useGate: true });
      }),
      { numRuns: 30 },
    );
  });
});
