import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { configShape } from '../../../src/core/contracts/index.ts';
import { projectKeys } from '../../../src/project/index.ts';
import { KEY_TABLE, type KeyRow, SECTIONS } from '../../../src/project/skillopt-config/key-table.ts';
import { loadSkillOptConfig } from '../../../src/project/skillopt-config/load-skillopt-config.ts';
import { isBlank } from '../../../src/project/skillopt-config/read-value.ts';

/** Every key that SkillOpt's configuration reference lists, written out by hand. `>` gives the flat name where it differs. */
const LISTED = {
  model: `backend>model_backend optimizer>optimizer_model target>target_model optimizer_backend target_backend
    reasoning_effort rewrite_reasoning_effort rewrite_max_completion_tokens
    codex_exec_path codex_exec_sandbox codex_exec_profile codex_exec_reasoning_effort codex_exec_use_sdk
    codex_exec_network_access codex_exec_web_search codex_exec_approval_policy codex_exec_full_auto
    codex_trace_to_optimizer claude_trace_to_optimizer
    claude_code_exec_path claude_code_exec_profile claude_code_exec_use_sdk claude_code_exec_effort
    claude_code_exec_max_thinking_tokens
    cursor_exec_path cursor_exec_sandbox copilot_exec_path copilot_exec_home copilot_exec_allow_all_tools
    copilot_chat_optimizer_model copilot_chat_target_model copilot_chat_timeout
    azure_openai_endpoint azure_openai_api_version azure_openai_api_key azure_openai_auth_mode azure_openai_ad_scope
    azure_openai_managed_identity_client_id
    optimizer_azure_openai_endpoint optimizer_azure_openai_api_version optimizer_azure_openai_api_key
    optimizer_azure_openai_auth_mode optimizer_azure_openai_ad_scope
    optimizer_azure_openai_managed_identity_client_id
    target_azure_openai_endpoint target_azure_openai_api_version target_azure_openai_api_key
    target_azure_openai_auth_mode target_azure_openai_ad_scope target_azure_openai_managed_identity_client_id
    azure_endpoint azure_api_version azure_api_key
    qwen_chat_base_url qwen_chat_api_key qwen_chat_temperature qwen_chat_timeout_seconds qwen_chat_max_tokens
    qwen_chat_enable_thinking qwen_chat_thinking_mode
    optimizer_qwen_chat_base_url optimizer_qwen_chat_api_key optimizer_qwen_chat_temperature
    optimizer_qwen_chat_timeout_seconds optimizer_qwen_chat_max_tokens optimizer_qwen_chat_enable_thinking
    optimizer_qwen_chat_thinking_mode
    target_qwen_chat_base_url target_qwen_chat_api_key target_qwen_chat_temperature
    target_qwen_chat_timeout_seconds target_qwen_chat_max_tokens target_qwen_chat_enable_thinking
    target_qwen_chat_thinking_mode
    minimax_region minimax_base_url minimax_api_key minimax_model minimax_temperature minimax_max_tokens
    minimax_enable_thinking
    optimizer_minimax_region optimizer_minimax_base_url optimizer_minimax_api_key optimizer_minimax_model
    optimizer_minimax_temperature optimizer_minimax_max_tokens optimizer_minimax_enable_thinking
    target_minimax_region target_minimax_base_url target_minimax_api_key target_minimax_model
    target_minimax_temperature target_minimax_max_tokens target_minimax_enable_thinking
    openai_compatible_base_url openai_compatible_api_key openai_compatible_model openai_compatible_temperature
    openai_compatible_timeout_seconds openai_compatible_max_tokens
    optimizer_openai_compatible_base_url optimizer_openai_compatible_api_key optimizer_openai_compatible_model
    optimizer_openai_compatible_temperature optimizer_openai_compatible_timeout_seconds
    optimizer_openai_compatible_max_tokens
    target_openai_compatible_base_url target_openai_compatible_api_key target_openai_compatible_model
    target_openai_compatible_temperature target_openai_compatible_timeout_seconds
    target_openai_compatible_max_tokens`,
  train: 'num_epochs train_size steps_per_epoch batch_size accumulation seed',
  gradient: 'minibatch_size merge_batch_size analyst_workers failure_only max_analyst_rounds',
  optimizer: `learning_rate>edit_budget min_learning_rate>min_edit_budget lr_scheduler lr_control_mode
    skill_update_mode meta_learning_rate>meta_edit_budget use_slow_update slow_update_samples
    slow_update_gate_with_selection longitudinal_pair_policy use_meta_skill use_skill_aware_reflection
    skill_aware_appendix_source skill_aware_consolidate_threshold`,
  evaluation: `use_gate gate_metric gate_mixed_weight use_semantic_density semantic_density_weight leading_words
    sel_env_num test_env_num eval_test`,
  env: `name>env skill_init out_root split_mode split_ratio split_seed split_dir data_path split_output_dir
    exec_timeout workers max_turns max_completion_tokens limit data_root mode image_detail shuffle_choices
    use_theorem use_sketch max_steps max_api_workers max_tool_turns search_mode max_queries_per_turn search_api_url
    search_auth_env search_provider search_max_num_results search_timeout_seconds use_local_tools data_dirs
    docs_dirs`,
};

const listed = Object.entries(LISTED).flatMap(([section, names]) =>
  names.split(/\s+/).map((name) => {
    const [key = '', flat = key] = name.split('>');
    return { section, key, flat };
  }),
);
const DOC = new URL('../../../docs/from/skillopt-config.md', import.meta.url);

/** The table as Markdown, section by section. */
function renderKeyTable(): string {
  return SECTIONS.map((section) => {
    const rows = KEY_TABLE.filter((row) => row.section === section).map(renderRow);
    return [`### ${section}`, '', '| key | flat | here | |', '|---|---|---|---|', ...rows, ''].join('\n');
  }).join('\n');
}

function renderRow({ key, flat, does, to, why }: KeyRow): string {
  const here = to === undefined || does === 'refused' ? does : `${does}: ${to}`;
  return `| \`${key}\` | ${flat === key ? '' : `\`${flat}\``} | ${here} | ${why ?? ''} |`;
}

describe('the table of keys', () => {
  it.each(listed)('has $section $key', ({ section, key, flat }) => {
    const rows = KEY_TABLE.filter((row) => row.section === section && row.key === key);
    expect(rows).toMatchObject([{ flat }]);
  });

  it('has nothing else, and no flat name twice', () => {
    const names = KEY_TABLE.map(({ section, key }) => `${section}.${key}`);
    expect(names.sort()).toEqual(listed.map(({ section, key }) => `${section}.${key}`).sort());
    expect(new Set(KEY_TABLE.map(({ flat }) => flat)).size).toBe(KEY_TABLE.length);
  });

  it('is what the documentation shows; WRITE_DOCS=1 writes it', () => {
    const [prose] = readFileSync(DOC, 'utf8').split('<!-- key table -->');
    const text = `${prose}<!-- key table -->\n\n${renderKeyTable()}`;
    if (process.env.WRITE_DOCS === '1') writeFileSync(DOC, text);
    expect(readFileSync(DOC, 'utf8')).toBe(text);
  });

  it('says where a mapped or replaced key goes, and why any other does not', () => {
    const silent = KEY_TABLE.filter(({ does, to, why }) => isBlank(does === 'mapped' ? to : why));
    expect(silent).toEqual([]);
    expect(KEY_TABLE.filter(({ does, to }) => does === 'replaced' && isBlank(to))).toEqual([]);
  });

  it('names only keys that a project has', () => {
    const known = new Set(Object.keys({ ...configShape, ...projectKeys }));
    const ofRun = KEY_TABLE.filter(({ section }) => section !== 'model').flatMap(({ to = '' }) => to.split(', '));
    expect(ofRun.filter((to) => to !== '' && !to.startsWith('extras.') && !known.has(to))).toEqual([]);
  });
});

/** A value that differs from every default, of a kind that the key takes. */
function sample({ key, values }: KeyRow): unknown {
  if (values !== undefined) return Object.values(values).at(-1);
  if (key === 'backend') return 'claude';
  if (/^(optimizer|target)_backend$/.test(key)) return 'qwen_chat';
  if (/auth_mode$/.test(key)) return 'openai_compatible';
  if (/region$/.test(key)) return 'cn_zh';
  if (/thinking_mode$/.test(key)) return 'on';
  if (/max_completion_tokens$/.test(key)) return 1234;
  if (/timeout|temperature|threshold|_num$|size|weight|seed|workers|limit|budget|rate|samples/.test(key)) return 1234;
  return /^use_|enable_/.test(key) ? true : 'something';
}

describe('every row does what it says', () => {
  const base = (row: KeyRow) => {
    const backend = row.backends?.[0] ?? 'openai_chat';
    const endpoint = /auth_mode|api_version/.test(row.key) ? { azure_openai_endpoint: 'https://here.example' } : {};
    const names = /(minimax|compatible)_model/.test(row.key) ? {} : { optimizer: 'm', target: 'm' };
    return { ...names, optimizer_backend: backend, target_backend: backend, ...endpoint };
  };
  const load = (row: KeyRow, value?: unknown) => {
    const model = base(row);
    const own = value === undefined ? {} : { [row.key]: value };
    const env = row.section === 'env' ? { name: './env.mjs', ...own } : {};
    const raw = row.section === 'model' ? { model: { ...model, ...own } } : { model, [row.section]: own, env };
    return loadSkillOptConfig({ file: '/nowhere/x.yaml', raw });
  };
  const name = (row: KeyRow) => [`${row.section}.${row.key}`, row] as const;

  it.each(KEY_TABLE.filter(({ does }) => does === 'mapped').map(name))('%s is mapped', async (_, row) => {
    const { input, warning } = await load(row, sample(row));
    expect(input).not.toEqual((await load(row)).input);
    expect(warning).toBeUndefined();
  });

  const without = KEY_TABLE.filter(({ does, variable }) => does !== 'mapped' && variable === undefined);
  it.each(without.map(name))('%s is named in the warning', async (path, row) => {
    const { input, warning } = await load(row, sample(row));
    expect(input).toEqual((await load(row)).input);
    expect(warning).toBe(
      `x.yaml: without effect here:\n  ${path}: ${row.why}${row.does === 'replaced' ? ` Set ${row.to}.` : ''}`,
    );
  });

  const secrets = KEY_TABLE.filter(({ variable }) => variable !== undefined);
  it.each(secrets.map(name))('%s is refused, and may name a variable', async (path, row) => {
    await expect(load(row, 'hush-hush')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `x.yaml: ${path} looks like a secret, and a config must not hold secrets`,
      hint: expect.stringContaining(`export ${row.variable}=…`),
    });
    const { input } = await load(row, `\${${row.variable}}`);
    expect(input[row.role ?? 'target']).toMatchObject({ apiKeyEnv: row.variable });
  });

  it('holds all secrets that there are', () => {
    expect(secrets.map(({ key }) => key).sort()).toEqual(
      listed
        .map(({ key }) => key)
        .filter((key) => key.endsWith('api_key'))
        .sort(),
    );
  });
});
