import { configShape } from '../../core/config.ts';
import { SkillError } from '../../core/errors.ts';
import type { ModelSpec } from '../project/resolve-model.ts';
import { castText } from './cast-text.ts';
import { type Backend, isBlank, type Role } from './key-row.ts';
import type { Values } from './layer.ts';
import { variableIn } from './refuse-keys.ts';
import { isAzureLabel, roleBackends } from './role-backends.ts';

/** What one role finds in the section `model`. */
type RoleSettings = {
  readonly role: Role;
  readonly backend: Backend;
  readonly isAzure: boolean;
  readonly model: string | undefined;
  /** The role's own value, else the shared one. A blank value is none. */
  get(...keys: readonly string[]): unknown;
};

const ROLES: readonly Role[] = ['optimizer', 'target'];

/** `optimizer` and `target` in our words, as far as the section names them. */
export function modelSpecs(model: Values): Values {
  const roles = ROLES.map((role) => settingsOf(role, model));
  const named = roles.map((settings) => [settings.role, makers[settings.backend](settings)]);
  return { ...Object.fromEntries(named.filter(([, spec]) => spec !== undefined)), ...callTimeout(roles) };
}

function settingsOf(role: Role, model: Values): RoleSettings {
  const get = (...keys: readonly string[]) =>
    keys.flatMap((key) => [model[`${role}_${key}`], model[key]]).find((value) => !isBlank(value));
  const name = model[role];
  return {
    role,
    backend: roleBackends(model)[role],
    isAzure: isAzureLabel(model),
    model: isBlank(name) ? undefined : String(name),
    get,
  };
}

const makers: Readonly<Record<Backend, (settings: RoleSettings) => ModelSpec | undefined>> = {
  openai_chat: openaiSpec,
  openai_compatible: ({ model, get }) =>
    model === undefined
      ? undefined
      : block('compatible', { model, baseURL: get('azure_openai_endpoint', 'azure_endpoint') }),
  qwen_chat: qwenSpec,
  minimax_chat: minimaxSpec,
  claude_chat: ({ model }) => block('claude-cli', { model: chosen(model) ?? 'claude-sonnet-4-6' }),
  copilot_chat: ({ role, model, get }) =>
    block('copilot-cli', { model: get(`copilot_chat_${role}_model`) ?? chosen(model), path: get('copilot_exec_path') }),
  codex_exec: codexSpec,
  claude_code_exec: refusedSpec,
  cursor_exec: refusedSpec,
  copilot_exec: refusedSpec,
};

function openaiSpec({ model, get, isAzure }: RoleSettings): ModelSpec | undefined {
  if (model === undefined) return undefined;
  const baseURL = get('azure_openai_endpoint', 'azure_endpoint');
  const apiKeyEnv = variableIn(get('azure_openai_api_key', 'azure_api_key'));
  const shared = { model, baseURL, apiKeyEnv, reasoningEffort: get('reasoning_effort') };
  const mode = authMode(get('azure_openai_auth_mode'));
  if (mode === 'openai_compatible' || (baseURL === undefined && !isAzure)) return block('openai', shared);
  return block('azure', { ...shared, apiVersion: get('azure_openai_api_version', 'azure_api_version') });
}

function authMode(value: unknown = 'api_key'): 'api_key' | 'openai_compatible' {
  if (value === 'api_key' || value === 'openai_compatible') return value;
  const message = `model.azure_openai_auth_mode: expected api_key or openai_compatible, got ${JSON.stringify(value)}`;
  throw new SkillError('CONFIG_INVALID', message, {
    hint: 'Tokens of azure_cli or managed_identity: from code, with azureChat({ token }). Here: export AZURE_OPENAI_API_KEY=…',
  });
}

function qwenSpec({ model, get }: RoleSettings): ModelSpec {
  return block('qwen', {
    model: chosen(model) ?? 'Qwen/Qwen3.5-4B',
    baseURL: get('qwen_chat_base_url'),
    temperature: asNumber(get('qwen_chat_temperature')),
    thinkingMode: get('qwen_chat_thinking_mode') ?? ifSaid(get('qwen_chat_enable_thinking'), ['enabled', 'disabled']),
    apiKeyEnv: variableIn(get('qwen_chat_api_key')),
  });
}

function minimaxSpec({ model, get }: RoleSettings): ModelSpec {
  return block('minimax', {
    model: chosen(model) ?? get('minimax_model') ?? 'MiniMax-M3',
    region: get('minimax_region'),
    baseURL: get('minimax_base_url'),
    temperature: asNumber(get('minimax_temperature')),
    thinking: ifSaid(get('minimax_enable_thinking'), ['adaptive', 'disabled']),
    apiKeyEnv: variableIn(get('minimax_api_key')),
  });
}

/** As optimizer Codex answers a message, as `codex-cli` does. As target it works in a folder. */
function codexSpec(settings: RoleSettings): ModelSpec {
  if (settings.role === 'target') return refusedSpec(settings);
  return block('codex-cli', { model: settings.model, path: settings.get('codex_exec_path') });
}

/** Named as it is, so that resolving it says why it is not served, unless a flag names another model. */
function refusedSpec({ backend, model }: RoleSettings): ModelSpec {
  return `${backend}:${model ?? ''}`;
}

/** SkillOpt reads its default names as no choice wherever they cannot be meant. */
const chosen = (model: string | undefined) => (model === 'gpt-5.4' || model === 'gpt-5.5' ? undefined : model);

/** Without further options in one word: `openai:MODEL`. */
function block(provider: string, options: Values): ModelSpec {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  if (given.length === 1 && given[0]![0] === 'model') return `${provider}:${given[0]![1]}`;
  return given.length === 0 ? provider : { provider, ...Object.fromEntries(given) };
}

/** The base file writes numbers and switches as text. */
const asNumber = (value: unknown) => (typeof value === 'string' ? castText(value.trim()) : value);

function ifSaid(value: unknown, [on, off]: readonly [string, string]): unknown {
  const said = typeof value === 'string' ? castText(value.trim()) : value;
  if (said === undefined) return undefined;
  return typeof said === 'boolean' ? (said ? on : off) : said;
}

const TIMEOUT_KEYS: Readonly<Partial<Record<Backend, string>>> = {
  qwen_chat: 'qwen_chat_timeout_seconds',
  copilot_chat: 'copilot_chat_timeout',
};

/** One limit serves both models, so it is the longest, and never below the default of ours. */
function callTimeout(roles: readonly RoleSettings[]): Values {
  const seconds = roles.flatMap(({ backend, get }) => {
    const key = TIMEOUT_KEYS[backend];
    return key === undefined ? [] : [Number(get(key) ?? 0)];
  });
  const longest = Math.max(0, ...seconds) * 1000;
  return longest > configShape.callTimeoutMs.parse(undefined) ? { callTimeoutMs: Math.round(longest) } : {};
}
