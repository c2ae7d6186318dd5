import { configShape } from '../../core/contracts/index.ts';
import type { ModelSpec } from '../models/resolve-model.ts';
import { type Backend, isBlank, type Role } from './key-row.ts';
import type { Values } from './layer.ts';
import { plainWord, readNumber, readWord } from './read-value.ts';
import { variableIn } from './refuse-keys.ts';
import { isAzureLabel, roleBackends } from './role-backends.ts';
import {
  AUTH_WORDS,
  MINIMAX_THINKING_WORDS,
  NO_TEMPERATURE,
  REGION_WORDS,
  THINKING_WORDS,
  type Words,
} from './value-aliases.ts';

/** Reads the value of a key, or says what is wrong with it. */
type Reader<Value> = (key: string, value: unknown) => Value;

/** What one role finds in the section `model`. */
type RoleSettings = {
  readonly role: Role;
  readonly backend: Backend;
  readonly isAzure: boolean;
  readonly model: string | undefined;
  /** Longest work of an agent on one task. */
  readonly execSeconds?: number | undefined;
  /** The role's own value, else the shared one. A blank value is none. */
  read<Value>(reader: Reader<Value>, ...keys: readonly string[]): Value | undefined;
};

const ROLES: readonly Role[] = ['optimizer', 'target'];

/** `optimizer` and `target` in our words, as far as the section names them; an agent has the limit of `env.exec_timeout`. */
export function modelSpecs(model: Values, env: Values): Values {
  const execSeconds = isBlank(env.exec_timeout) ? undefined : readNumber('env.exec_timeout', env.exec_timeout);
  const roles = ROLES.map((role) => ({ ...settingsOf(role, model), execSeconds }));
  const named = roles.map((settings) => [settings.role, makers[settings.backend](settings)]);
  return { ...Object.fromEntries(named.filter(([, spec]) => spec !== undefined)), ...callTimeout(roles) };
}

function settingsOf(role: Role, model: Values): RoleSettings {
  const name = model[role];
  return {
    role,
    backend: roleBackends(model)[role],
    isAzure: isAzureLabel(model),
    model: isBlank(name) ? undefined : String(name).trim(),
    read(reader, ...keys) {
      const found = keys.flatMap((key) => [`${role}_${key}`, key]).find((key) => !isBlank(model[key]));
      return found === undefined ? undefined : reader(`model.${found}`, model[found]);
    },
  };
}

const text: Reader<string> = (_, value) => String(value).trim();
const variable: Reader<string | undefined> = (_, value) => variableIn(value);
const word =
  (words: Words): Reader<string> =>
  (key, value) =>
    readWord(key, words, value);
const effort: Reader<string> = (_, value) => plainWord(value); // the provider knows which there are
const temperature: Reader<number | null> = (key, value) =>
  NO_TEMPERATURE.includes(plainWord(value)) ? null : readNumber(key, value);

const makers: Readonly<Record<Backend, (settings: RoleSettings) => ModelSpec | undefined>> = {
  openai_chat: openaiSpec,
  openai_compatible: compatibleSpec,
  qwen_chat: qwenSpec,
  minimax_chat: minimaxSpec,
  claude_chat: ({ model }) => block('claude-cli', { model: chosen(model) ?? 'claude-sonnet-4-6' }),
  copilot_chat: ({ role, model, read }) =>
    block('copilot-cli', {
      model: read(text, `copilot_chat_${role}_model`) ?? chosen(model),
      path: read(text, 'copilot_exec_path'),
    }),
  codex_exec: codexSpec,
  claude_code_exec: (settings) => agentSpec('claude', settings),
  cursor_exec: (settings) => agentSpec('cursor', settings),
  copilot_exec: (settings) => agentSpec('copilot', settings),
};

function openaiSpec({ model, read, isAzure }: RoleSettings): ModelSpec | undefined {
  if (model === undefined) return undefined;
  const baseURL = read(text, 'azure_openai_endpoint', 'azure_endpoint');
  const apiKeyEnv = read(variable, 'azure_openai_api_key', 'azure_api_key');
  const shared = { model, baseURL, apiKeyEnv, reasoningEffort: read(effort, 'reasoning_effort') };
  const auth = read(word(AUTH_WORDS), 'azure_openai_auth_mode');
  const isElsewhere = baseURL === undefined && !isAzure && auth === undefined;
  if (auth === 'openai' || isElsewhere) return block('openai', shared);
  return block('azure', { ...shared, apiVersion: read(text, 'azure_openai_api_version', 'azure_api_version'), auth });
}

/** Without an address here it is the variable `OPENAI_COMPATIBLE_BASE_URL`. */
function compatibleSpec({ model, read }: RoleSettings): ModelSpec | undefined {
  const name = chosen(model) ?? read(text, 'openai_compatible_model') ?? model;
  if (name === undefined) return undefined;
  return block('compatible', {
    model: name,
    baseURL: read(text, 'openai_compatible_base_url', 'azure_openai_endpoint', 'azure_endpoint'),
    temperature: read(temperature, 'openai_compatible_temperature') ?? undefined,
    apiKeyEnv: read(variable, 'openai_compatible_api_key'),
  });
}

function qwenSpec({ model, read }: RoleSettings): ModelSpec {
  const thinking = word(THINKING_WORDS);
  return block('qwen', {
    model: chosen(model) ?? 'Qwen/Qwen3.5-4B',
    baseURL: read(text, 'qwen_chat_base_url'),
    temperature: read(temperature, 'qwen_chat_temperature'),
    thinkingMode: read(thinking, 'qwen_chat_thinking_mode') ?? read(thinking, 'qwen_chat_enable_thinking'),
    apiKeyEnv: read(variable, 'qwen_chat_api_key'),
  });
}

function minimaxSpec({ model, read }: RoleSettings): ModelSpec {
  return block('minimax', {
    model: chosen(model) ?? read(text, 'minimax_model') ?? 'MiniMax-M3',
    region: read(word(REGION_WORDS), 'minimax_region'),
    baseURL: read(text, 'minimax_base_url'),
    temperature: read(readNumber, 'minimax_temperature'),
    thinking: read(word(MINIMAX_THINKING_WORDS), 'minimax_enable_thinking'),
    apiKeyEnv: read(variable, 'minimax_api_key'),
  });
}

/** As optimizer Codex answers a message, as `codex-cli` does. As target it works in a folder. */
function codexSpec(settings: RoleSettings): ModelSpec {
  if (settings.role === 'target') return agentSpec('codex', settings);
  return block('codex-cli', { model: settings.model, path: settings.read(text, 'codex_exec_path') });
}

/** An agent at work in a workspace, with the skill installed. No agent optimizes that way: resolving it says so. */
function agentSpec(agent: string, { role, backend, model, execSeconds, read }: RoleSettings): ModelSpec {
  if (role === 'optimizer') return `${backend}:${model ?? ''}`;
  const limits = execSeconds === undefined ? undefined : { timeoutMs: Math.round(execSeconds * 1000) };
  const options = { model: chosen(model), path: read(text, `${backend}_path`), limits };
  return { agent, ...Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) };
}

/** SkillOpt reads its default names as no choice wherever they cannot be meant. */
const chosen = (model: string | undefined) => (model === 'gpt-5.4' || model === 'gpt-5.5' ? undefined : model);

/** Without further options in one word: `openai:MODEL`. */
function block(provider: string, options: Values): ModelSpec {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  if (given.length === 1 && given[0]![0] === 'model') return `${provider}:${given[0]![1]}`;
  return given.length === 0 ? provider : { provider, ...Object.fromEntries(given) };
}

const TIMEOUT_KEYS: Readonly<Partial<Record<Backend, string>>> = {
  qwen_chat: 'qwen_chat_timeout_seconds',
  copilot_chat: 'copilot_chat_timeout',
  openai_compatible: 'openai_compatible_timeout_seconds',
};

/** One limit serves both models, so it is the longest, and never below the default of ours. */
function callTimeout(roles: readonly RoleSettings[]): Values {
  const seconds = roles.map(({ backend, read }) => {
    const key = TIMEOUT_KEYS[backend];
    return key === undefined ? 0 : (read(readNumber, key) ?? 0);
  });
  const longest = Math.max(0, ...seconds) * 1000;
  return longest > configShape.callTimeoutMs.parse(undefined) ? { callTimeoutMs: Math.round(longest) } : {};
}
