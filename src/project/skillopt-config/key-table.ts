import { type Backend, type ValueRule, WORDS } from './read-value.ts';

export const SECTIONS = ['model', 'train', 'gradient', 'optimizer', 'evaluation', 'env'] as const;
export type Section = (typeof SECTIONS)[number];

export const ROLES = ['optimizer', 'target'] as const;
export type Role = (typeof ROLES)[number];

/** One key of a SkillOpt config, and its effect here. */
export type KeyRow = ValueRule & {
  readonly section: Section;
  readonly key: string;
  /** Its name in a file without sections. */
  readonly flat: string;
  /** `mapped`: sets `to`. `replaced`: has no effect, and `to` must be set instead. `ignored`: has no effect. `refused`: an error. */
  readonly does: 'mapped' | 'replaced' | 'refused' | 'ignored';
  /** Our keys. `target.baseURL` is an option of a model, and `extras.limit` a value for the environment. */
  readonly to?: string;
  readonly why?: string;
  /** Only these backends read the key, in SkillOpt too. */
  readonly backends?: readonly Backend[];
  /** Only this role reads the key. */
  readonly role?: Role;
  /** These backends ignore the key, although it is mapped. */
  readonly unusedBy?: readonly Backend[];
  /** The environment qa does not read the key. */
  readonly isOfOthers?: boolean;
  /** Values that need no warning. Blank values never need one. */
  readonly harmless?: readonly unknown[];
};

/** `to` may hold `ROLE`, `KEY` for the key, and `camelKey` for the key in our spelling. */
type Outcome = Omit<KeyRow, 'section' | 'key' | 'flat' | 'role'> & { readonly flat?: string };
type More = Partial<Omit<Outcome, 'does'>>;
/** A name may be several keys with the same outcome, with spaces between them. */
type Outcomes = Readonly<Record<string, Outcome>>;

const mapped = (to: string, more: More = {}): Outcome => ({ does: 'mapped', to, ...more });
const ignored = (why: string, more: More = {}): Outcome => ({ does: 'ignored', why, ...more });
const replaced = (to: string, why: string, more: More = {}): Outcome => ({ does: 'replaced', to, why, ...more });
const secret = (variable: string): Outcome => ({
  does: 'refused',
  to: 'ROLE.apiKeyEnv',
  variable,
  why: `A file must not hold secrets. Write \${${variable}} here, and export that variable.`,
});

const SAME_NAME = mapped('camelKey');

const ISOLATED = ignored('Each attempt has a home folder of its own, without profiles and sessions.');
const CLI = ignored('The CLI runs as it is installed: without an SDK, and with its default settings.');
const TRACED = ignored('Analysts always read what the agent did.');
const SANDBOX = replaced(
  'sandbox',
  'The agent works in our sandbox, and its own sandbox is off. Ours is auto, bubblewrap, none or a container.',
);
const AZ_TOKEN = 'The token comes from az, for Azure Cognitive Services, or from AZURE_OPENAI_AD_TOKEN.';
const CALL_TIMEOUT = mapped('callTimeoutMs', {
  kind: 'number',
  why: 'One limit serves both models. It is never below our default.',
});
const REPLY_LIMIT = replaced(
  'optimizerMaxCompletionTokens, extras.maxCompletionTokens',
  'The request limits the reply. Nothing cuts it afterwards.',
  { harmless: [8000, '8000'] },
);

/** Keys of the section `model` for every backend. */
const modelKeys: Outcomes = {
  backend: mapped('optimizer, target', { flat: 'model_backend' }),
  optimizer: mapped('optimizer.model', { flat: 'optimizer_model' }),
  target: mapped('target.model', { flat: 'target_model' }),
  optimizer_backend: mapped('optimizer.provider'),
  target_backend: mapped('target.provider'),
  reasoning_effort: mapped('ROLE.reasoningEffort', {
    kind: 'word',
    backends: ['openai_chat'],
    unusedBy: ['claude_chat', 'copilot_chat', 'codex_exec', 'claude_code_exec', 'cursor_exec', 'copilot_exec'],
    why: 'For OpenAI and Azure. Agent CLIs do not get it.',
  }),
  rewrite_reasoning_effort: ignored('Rewrites use the same effort as all other calls.'),
  rewrite_max_completion_tokens: SAME_NAME,
};

/** Keys for these backends alone. If several keys set the same option of a model, the last one counts. */
const backendKeys: Readonly<Record<string, Outcomes>> = {
  codex_exec: {
    codex_exec_path: mapped('ROLE.path', { why: 'Codex as optimizer is codex-cli; as target it is the agent codex.' }),
    'codex_exec_sandbox codex_exec_network_access codex_exec_approval_policy': SANDBOX,
    codex_exec_profile: ISOLATED,
    'codex_exec_reasoning_effort codex_exec_use_sdk codex_exec_web_search': CLI,
    codex_exec_full_auto: ignored('SkillOpt ignores it too.'),
    codex_trace_to_optimizer: TRACED,
  },
  claude_code_exec: {
    claude_trace_to_optimizer: TRACED,
    claude_code_exec_path: mapped('target.path'),
    claude_code_exec_profile: ISOLATED,
    'claude_code_exec_use_sdk claude_code_exec_effort claude_code_exec_max_thinking_tokens': CLI,
  },
  cursor_exec: { cursor_exec_path: mapped('target.path'), cursor_exec_sandbox: SANDBOX },
  'copilot_chat copilot_exec': {
    copilot_exec_path: mapped('ROLE.path'),
    'copilot_exec_home copilot_exec_allow_all_tools': ignored(
      'A chat model has no tools. An agent has all of its tools, and a home folder of its own.',
    ),
  },
  copilot_chat: {
    copilot_chat_optimizer_model: mapped('optimizer.model'),
    copilot_chat_target_model: mapped('target.model'),
    copilot_chat_timeout: CALL_TIMEOUT,
  },
  'openai_chat openai_compatible': { azure_endpoint: mapped('ROLE.baseURL') },
  openai_chat: { azure_api_version: mapped('ROLE.apiVersion'), azure_api_key: secret('AZURE_OPENAI_API_KEY') },
};

/** The same for keys that may have the prefix of a role. */
const roleKeys: Readonly<Record<string, Outcomes>> = {
  'openai_chat openai_compatible': { azure_openai_endpoint: mapped('ROLE.baseURL') },
  openai_chat: {
    azure_openai_api_version: mapped('ROLE.apiVersion'),
    azure_openai_api_key: secret('AZURE_OPENAI_API_KEY'),
    azure_openai_auth_mode: mapped('ROLE.auth', {
      values: WORDS.auth,
      why: 'api_key signs in with a key, azure_cli and managed_identity with Entra ID; openai_compatible is openai at that endpoint.',
    }),
    azure_openai_ad_scope: ignored(AZ_TOKEN, { harmless: ['https://cognitiveservices.azure.com/.default'] }),
    azure_openai_managed_identity_client_id: ignored(AZ_TOKEN),
  },
  qwen_chat: {
    qwen_chat_base_url: mapped('ROLE.baseURL'),
    qwen_chat_api_key: secret('QWEN_CHAT_API_KEY'),
    qwen_chat_temperature: mapped('ROLE.temperature', {
      kind: 'temperature',
      why: 'A number; none, off or null sends no temperature.',
    }),
    qwen_chat_timeout_seconds: CALL_TIMEOUT,
    qwen_chat_max_tokens: REPLY_LIMIT,
    qwen_chat_enable_thinking: mapped('ROLE.thinkingMode', {
      values: WORDS.thinking,
      why: 'Only if thinking_mode is not set.',
    }),
    qwen_chat_thinking_mode: mapped('ROLE.thinkingMode', { values: WORDS.thinking }),
  },
  minimax_chat: {
    minimax_region: mapped('ROLE.region', { values: WORDS.region }),
    minimax_base_url: mapped('ROLE.baseURL'),
    minimax_api_key: secret('MINIMAX_API_KEY'),
    minimax_model: mapped('ROLE.model'),
    minimax_temperature: mapped('ROLE.temperature', { kind: 'number' }),
    minimax_max_tokens: REPLY_LIMIT,
    minimax_enable_thinking: mapped('ROLE.thinking', { values: WORDS.minimaxThinking }),
  },
  // Earlier versions have only environment variables for these.
  openai_compatible: {
    openai_compatible_base_url: mapped('ROLE.baseURL', {
      why: 'Without it the variable OPENAI_COMPATIBLE_BASE_URL counts.',
    }),
    openai_compatible_api_key: secret('OPENAI_COMPATIBLE_API_KEY'),
    openai_compatible_model: mapped('ROLE.model'),
    openai_compatible_temperature: mapped('ROLE.temperature', { kind: 'temperature' }),
    openai_compatible_timeout_seconds: CALL_TIMEOUT,
    openai_compatible_max_tokens: REPLY_LIMIT,
  },
};

const DENSITY = 'This score rewards emphatic words. Our gate compares only the scores of tasks.';
const WORKERS = mapped('workers', {
  why: 'One number limits all calls at a time: the larger of env.workers and gradient.analyst_workers.',
});

/** Keys outside the section `model`. */
const runKeys: Readonly<Record<Exclude<Section, 'model'>, Outcomes>> = {
  train: {
    'num_epochs train_size batch_size accumulation seed': SAME_NAME,
    steps_per_epoch: ignored('It follows from the data and batch_size, as in SkillOpt.'),
  },
  gradient: {
    'minibatch_size merge_batch_size failure_only': SAME_NAME,
    analyst_workers: WORKERS,
    max_analyst_rounds: ignored('SkillOpt does not use it any more.'),
  },
  optimizer: {
    learning_rate: mapped('editBudget', { flat: 'edit_budget' }),
    min_learning_rate: mapped('minEditBudget', { flat: 'min_edit_budget' }),
    lr_scheduler: mapped('lrScheduler', { why: 'autonomous sets no limit, as in SkillOpt.' }),
    lr_control_mode: mapped('lrControlMode', { values: WORDS.lrControl }),
    skill_update_mode: mapped('skillUpdateMode', { values: WORDS.updateMode }),
    meta_learning_rate: ignored('SkillOpt does not read it either.', { flat: 'meta_edit_budget' }),
    'use_slow_update slow_update_samples use_meta_skill': SAME_NAME,
    slow_update_gate_with_selection: mapped('slowUpdateGate', {
      why: 'Off if no file sets it, as in SkillOpt; on with preset: default.',
    }),
    longitudinal_pair_policy: mapped('longitudinalPairPolicy', { values: WORDS.pairPolicy }),
    'use_skill_aware_reflection skill_aware_appendix_source skill_aware_consolidate_threshold': SAME_NAME,
  },
  evaluation: {
    'use_gate gate_metric gate_mixed_weight sel_env_num test_env_num eval_test': SAME_NAME,
    use_semantic_density: ignored(DENSITY, { harmless: [false] }),
    semantic_density_weight: ignored(DENSITY, { harmless: [0, 0.05] }),
    leading_words: ignored(DENSITY),
  },
  env: {
    name: mapped('env', { flat: 'env' }),
    skill_init: mapped('skill'),
    out_root: mapped('outRoot', { why: 'Without it runs/NAME. There is no timestamp, so a run can be resumed.' }),
    split_ratio: mapped('splitRatio', { why: "Without it 2:1:7, the default of SkillOpt's environments." }),
    'split_mode split_seed split_dir data_path': SAME_NAME,
    exec_timeout: mapped('rolloutTimeoutMs, extras.exec_timeout', {
      why: 'A task gets one minute more, as in SkillOpt, and never less than our default. For an agent it also sets target.limits.timeoutMs.',
    }),
    workers: WORKERS,
    max_completion_tokens: mapped('extras.max_completion_tokens, extras.maxCompletionTokens', {
      why: 'The environment qa reads the second spelling.',
    }),
    'split_output_dir limit': mapped('extras.KEY'),
    max_turns: mapped('extras.KEY', { isOfOthers: true, harmless: [1] }),
    [`data_root mode image_detail shuffle_choices use_theorem use_sketch max_steps max_api_workers max_tool_turns
      search_mode max_queries_per_turn search_api_url search_auth_env search_provider search_max_num_results
      search_timeout_seconds use_local_tools data_dirs docs_dirs`]: mapped('extras.KEY', { isOfOthers: true }),
  },
};

/** Every key of a SkillOpt config, and its effect here. The documentation is made from this table. */
export const KEY_TABLE: readonly KeyRow[] = [
  ...rowsOf('model', modelKeys),
  ...Object.entries(backendKeys).flatMap(([backends, outcomes]) => rowsOf('model', outcomes, backends)),
  ...Object.entries(roleKeys).flatMap(([backends, outcomes]) =>
    Object.entries(outcomes).flatMap(([key, outcome]) =>
      [undefined, ...ROLES].flatMap((role) => rowsOf('model', { [key]: outcome }, backends, role)),
    ),
  ),
  ...Object.entries(runKeys).flatMap(([section, outcomes]) => rowsOf(section as Section, outcomes)),
];

function rowsOf(section: Section, outcomes: Outcomes, backends?: string, role?: Role): KeyRow[] {
  const only = { ...(backends && { backends: backends.split(' ') as Backend[] }), ...(role && { role }) };
  return Object.entries(outcomes).flatMap(([keys, outcome]) =>
    keys.split(/\s+/).map((shared) => {
      const key = role ? `${role}_${shared}` : shared;
      const { to, ...own } = role && outcome.variable ? secret(`${role.toUpperCase()}_${outcome.variable}`) : outcome;
      return { section, key, flat: key, ...only, ...own, ...(to && { to: fillIn(to, key, role ? [role] : ROLES) }) };
    }),
  );
}

function fillIn(template: string, key: string, roles: readonly Role[]): string {
  const camelKey = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const to = template.replace('camelKey', camelKey).replace('KEY', key);
  return to.includes('ROLE') ? roles.map((role) => to.replace('ROLE', role)).join(', ') : to;
}

/** Other spellings of keys in the section `model`. The spelling of the table takes precedence in the same file. */
export const KEY_ALIASES: ReadonlyMap<string, string> = new Map([
  ...['codex_path', 'codex_cli_bin', 'codex_bin'].map((name) => [name, 'codex_exec_path'] as const),
  ...['sandbox', 'codex_sandbox'].map((name) => [name, 'codex_exec_sandbox'] as const),
]);

const byPath = new Map(KEY_TABLE.map((row) => [`${row.section}.${row.key}`, row]));
const byFlat = new Map(KEY_TABLE.map((row) => [row.flat, row]));

export const findRow = (section: Section, key: string): KeyRow | undefined => byPath.get(`${section}.${key}`);

/** The row of a name without a section: a flat name, an alias, or a key of the section `optimizer`. */
export function findFlat(name: string): KeyRow | undefined {
  return byFlat.get(name) ?? findRow('model', KEY_ALIASES.get(name) ?? '') ?? findRow('optimizer', name);
}
