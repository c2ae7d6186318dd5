import type { Backend, KeyRow, Role } from './key-row.ts';

type Text = Pick<KeyRow, 'does'> & Partial<Omit<KeyRow, 'section' | 'key' | 'does'>>;

const model = (key: string, text: Text): KeyRow => ({ section: 'model', key, flat: key, ...text });

/** The key as it is for both roles, and with the prefix of each. */
function forRoles(key: string, text: Text): KeyRow[] {
  const { variable, to } = text;
  const roles: readonly Role[] = ['optimizer', 'target'];
  const own = roles.map((role) =>
    model(`${role}_${key}`, {
      ...text,
      role,
      ...(to === undefined ? {} : { to: to.replaceAll(/\bROLE\b/g, role) }),
      ...(variable === undefined ? {} : secret(`${role.toUpperCase()}_${variable}`)),
    }),
  );
  const shared = to === undefined ? {} : { to: to.replaceAll(/\bROLE\b/g, 'optimizer and target') };
  return [model(key, { ...text, ...shared }), ...own];
}

const secret = (variable: string) => ({
  does: 'refused' as const,
  variable,
  why: `No secrets in a file. Write \${${variable}} in its place and export that variable.`,
});

const TOOLS = 'As a model it has no tools; as an agent it has all of them, and a home of its own.';
const SANDBOXED =
  'The agent works in our sandbox, in which its own is off: sandbox: auto, bubblewrap, none or a container.';
const ISOLATED = 'Each attempt has a home of its own, without profiles and sessions.';
const CLI = 'The CLI runs as it is installed: no SDK, no setting of its own.';
const TRACED = 'Analysts always read what the agent did.';
const LIMITS = 'A reply is limited where it is asked for, not cut behind its back.';
const TOKEN_SIGN_IN = "Tokens are those of az, for Azure's Cognitive Services, or AZURE_OPENAI_AD_TOKEN.";

const azure: { backends: readonly Backend[] } = { backends: ['openai_chat'] };
const qwen: { backends: readonly Backend[] } = { backends: ['qwen_chat'] };
const compatible: { backends: readonly Backend[] } = { backends: ['openai_compatible'] };
const minimax: { backends: readonly Backend[] } = { backends: ['minimax_chat'] };
const claude: { backends: readonly Backend[] } = { backends: ['claude_code_exec'] };
const codex: { backends: readonly Backend[] } = { backends: ['codex_exec'] };

const replyLimits = 'optimizerMaxCompletionTokens, extras.maxCompletionTokens';

const roles: readonly KeyRow[] = [
  model('backend', { does: 'mapped', flat: 'model_backend', to: 'optimizer, target' }),
  model('optimizer', { does: 'mapped', flat: 'optimizer_model', to: 'optimizer.model' }),
  model('target', { does: 'mapped', flat: 'target_model', to: 'target.model' }),
  model('optimizer_backend', { does: 'mapped', to: 'optimizer.provider' }),
  model('target_backend', { does: 'mapped', to: 'target.provider' }),
  model('reasoning_effort', {
    does: 'mapped',
    to: 'optimizer.reasoningEffort, target.reasoningEffort',
    why: 'For OpenAI and Azure. Agent CLIs are not told.',
  }),
  model('rewrite_reasoning_effort', { does: 'ignored', why: 'Rewrites think as hard as everything else.' }),
  model('rewrite_max_completion_tokens', { does: 'mapped', to: 'rewriteMaxCompletionTokens' }),
];

const agents: readonly KeyRow[] = [
  model('codex_exec_path', {
    does: 'mapped',
    to: 'optimizer.path, target.path',
    ...codex,
    why: 'Codex as optimizer is codex-cli; as target it is the agent codex.',
  }),
  ...['sandbox', 'network_access', 'approval_policy'].map((key) =>
    model(`codex_exec_${key}`, { does: 'replaced', to: 'sandbox', ...codex, why: SANDBOXED }),
  ),
  model('codex_exec_profile', { does: 'ignored', ...codex, why: ISOLATED }),
  ...['reasoning_effort', 'use_sdk', 'web_search'].map((key) =>
    model(`codex_exec_${key}`, { does: 'ignored', ...codex, why: CLI }),
  ),
  model('codex_exec_full_auto', { does: 'ignored', ...codex, why: 'Ignored by SkillOpt too.' }),
  model('codex_trace_to_optimizer', { does: 'ignored', ...codex, why: TRACED }),
  model('claude_trace_to_optimizer', { does: 'ignored', backends: ['claude_code_exec'], why: TRACED }),
  model('claude_code_exec_path', { does: 'mapped', to: 'target.path', ...claude }),
  model('claude_code_exec_profile', { does: 'ignored', ...claude, why: ISOLATED }),
  ...['use_sdk', 'effort', 'max_thinking_tokens'].map((key) =>
    model(`claude_code_exec_${key}`, { does: 'ignored', ...claude, why: CLI }),
  ),
  model('cursor_exec_path', { does: 'mapped', to: 'target.path', backends: ['cursor_exec'] }),
  model('cursor_exec_sandbox', { does: 'replaced', to: 'sandbox', backends: ['cursor_exec'], why: SANDBOXED }),
  model('copilot_exec_path', {
    does: 'mapped',
    to: 'optimizer.path, target.path',
    backends: ['copilot_chat', 'copilot_exec'],
  }),
  ...['home', 'allow_all_tools'].map((key) =>
    model(`copilot_exec_${key}`, { does: 'ignored', backends: ['copilot_chat', 'copilot_exec'], why: TOOLS }),
  ),
  ...(['optimizer', 'target'] as const).map((role) =>
    model(`copilot_chat_${role}_model`, { does: 'mapped', to: `${role}.model`, backends: ['copilot_chat'], role }),
  ),
  model('copilot_chat_timeout', {
    does: 'mapped',
    to: 'callTimeoutMs',
    backends: ['copilot_chat'],
    why: 'Never less than our default: one limit for both models.',
  }),
];

const azureKeys: readonly KeyRow[] = [
  ...forRoles('azure_openai_endpoint', { does: 'mapped', to: 'baseURL of ROLE', ...azure }),
  ...forRoles('azure_openai_api_version', { does: 'mapped', to: 'apiVersion of ROLE', ...azure }),
  ...forRoles('azure_openai_api_key', { ...azure, ...secret('AZURE_OPENAI_API_KEY') }),
  ...forRoles('azure_openai_auth_mode', {
    does: 'mapped',
    to: 'provider of ROLE',
    ...azure,
    why: 'api_key signs in with a key, azure_cli and managed_identity with Entra ID; openai_compatible is openai at that endpoint.',
  }),
  ...forRoles('azure_openai_ad_scope', {
    does: 'ignored',
    ...azure,
    harmless: ['https://cognitiveservices.azure.com/.default'],
    why: TOKEN_SIGN_IN,
  }),
  ...forRoles('azure_openai_managed_identity_client_id', { does: 'ignored', ...azure, why: TOKEN_SIGN_IN }),
  model('azure_endpoint', { does: 'mapped', to: 'baseURL of optimizer and target', ...azure }),
  model('azure_api_version', { does: 'mapped', to: 'apiVersion of optimizer and target', ...azure }),
  model('azure_api_key', { ...azure, ...secret('AZURE_OPENAI_API_KEY') }),
];

const qwenKeys: readonly KeyRow[] = [
  ...forRoles('qwen_chat_base_url', { does: 'mapped', to: 'baseURL of ROLE', ...qwen }),
  ...forRoles('qwen_chat_api_key', { ...qwen, ...secret('QWEN_CHAT_API_KEY') }),
  ...forRoles('qwen_chat_temperature', {
    does: 'mapped',
    to: 'temperature of ROLE',
    ...qwen,
    why: 'A number; none, off or null sends no temperature.',
  }),
  ...forRoles('qwen_chat_timeout_seconds', {
    does: 'mapped',
    to: 'callTimeoutMs',
    ...qwen,
    why: 'Never less than our default: one limit for both models.',
  }),
  ...forRoles('qwen_chat_max_tokens', {
    does: 'replaced',
    to: replyLimits,
    ...qwen,
    harmless: [8000, '8000'],
    why: LIMITS,
  }),
  ...forRoles('qwen_chat_enable_thinking', {
    does: 'mapped',
    to: 'thinkingMode of ROLE',
    ...qwen,
    why: 'Where thinking_mode says nothing.',
  }),
  ...forRoles('qwen_chat_thinking_mode', { does: 'mapped', to: 'thinkingMode of ROLE', ...qwen }),
];

const minimaxKeys: readonly KeyRow[] = [
  ...forRoles('minimax_region', { does: 'mapped', to: 'region of ROLE', ...minimax }),
  ...forRoles('minimax_base_url', { does: 'mapped', to: 'baseURL of ROLE', ...minimax }),
  ...forRoles('minimax_api_key', { ...minimax, ...secret('MINIMAX_API_KEY') }),
  ...forRoles('minimax_model', { does: 'mapped', to: 'model of ROLE', ...minimax }),
  ...forRoles('minimax_temperature', { does: 'mapped', to: 'temperature of ROLE', ...minimax }),
  ...forRoles('minimax_max_tokens', {
    does: 'replaced',
    to: replyLimits,
    ...minimax,
    harmless: [8000, '8000'],
    why: LIMITS,
  }),
  ...forRoles('minimax_enable_thinking', { does: 'mapped', to: 'thinking of ROLE', ...minimax }),
];

/** In files of later versions; before, only variables of the environment said these. */
const compatibleKeys: readonly KeyRow[] = [
  ...forRoles('openai_compatible_base_url', {
    does: 'mapped',
    to: 'baseURL of ROLE',
    ...compatible,
    why: 'Without it the variable OPENAI_COMPATIBLE_BASE_URL.',
  }),
  ...forRoles('openai_compatible_api_key', { ...compatible, ...secret('OPENAI_COMPATIBLE_API_KEY') }),
  ...forRoles('openai_compatible_model', { does: 'mapped', to: 'model of ROLE', ...compatible }),
  ...forRoles('openai_compatible_temperature', { does: 'mapped', to: 'temperature of ROLE', ...compatible }),
  ...forRoles('openai_compatible_timeout_seconds', {
    does: 'mapped',
    to: 'callTimeoutMs',
    ...compatible,
    why: 'Never less than our default: one limit for both models.',
  }),
  ...forRoles('openai_compatible_max_tokens', {
    does: 'replaced',
    to: replyLimits,
    ...compatible,
    harmless: [8000, '8000'],
    why: LIMITS,
  }),
];

/** Every key of the section `model`. */
export const modelKeyRows: readonly KeyRow[] = [
  ...roles,
  ...agents,
  ...azureKeys,
  ...qwenKeys,
  ...minimaxKeys,
  ...compatibleKeys,
];
