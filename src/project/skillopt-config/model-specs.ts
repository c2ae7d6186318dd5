import { configShape } from '../../core/contracts/index.ts';
import { definedOnly, suggestion } from '../../core/text/index.ts';
import type { ModelSpec } from '../models/provider.ts';
import { type Backend, KEY_TABLE, type KeyRow, ROLES, type Role } from './key-table.ts';
import { BadValue, isBlank, plainWord, readNumber, readValue, type Values, type Words, wordsOf } from './read-value.ts';

/** Names of `model.backend` that count for both roles. */
const FOR_BOTH = wordsOf({
  openai_chat: 'azure_openai azure',
  claude_chat: 'claude anthropic',
  codex_exec: 'codex openai',
  copilot_chat: 'copilot copilot_cli github_copilot',
  openai_compatible: 'compat openai_compatible_chat',
});

/** Names that count for the target alone. The optimizer stays with `openai_chat`. */
const FOR_TARGET = wordsOf({
  cursor_exec: 'cursor cursor_agent',
  claude_code_exec: 'claude_code',
  copilot_exec: 'copilot_exec',
  qwen_chat: 'qwen',
  minimax_chat: 'minimax',
});

export type RoleBackends = Readonly<Record<Role, Backend>>;

/** The shared name fills roles that are not set. `openai_chat` counts as not set, since the base file has it. */
export function roleBackends(model: Values): RoleBackends {
  const shared = readBackend('backend', model);
  const [optimizer, target] = [readBackend('optimizer_backend', model), readBackend('target_backend', model)];
  const forOptimizer = Object.hasOwn(FOR_BOTH, shared) ? shared : 'openai_chat';
  return {
    optimizer: optimizer === 'openai_chat' ? forOptimizer : optimizer,
    target: target === 'openai_chat' ? shared : target,
  };
}

function readBackend(key: string, { [key]: value }: Values): Backend {
  if (isBlank(value)) return 'openai_chat';
  const backends: Words = { ...FOR_BOTH, ...FOR_TARGET };
  const [name, names] = [plainWord(value), Object.keys(backends)];
  if (names.includes(name)) return backends[name] as Backend;
  const message = `unknown backend ${JSON.stringify(value)}${suggestion(name, names)}`;
  throw new BadValue(`model.${key}`, message, `Known: ${names.join(', ')}.`);
}

/** `optimizer` and `target` in our keys, if the section names them. An agent has the limit of `env.exec_timeout`. */
export function modelSpecs(model: Values, env: Values): Values {
  const roles = ROLES.map((role) => settingsFor(role, model, env));
  const specs = roles.map((settings) => [settings.role, makers[settings.backend](settings)]);
  const timeoutMs = Math.round(Math.max(...roles.map((settings) => settings.timeoutSeconds())) * 1000);
  return {
    ...Object.fromEntries(specs.filter(([, spec]) => spec !== undefined)),
    // Both models share the longest limit, which is never below our default.
    ...(timeoutMs > configShape.callTimeoutMs.parse(undefined) ? { callTimeoutMs: timeoutMs } : {}),
  };
}

type RoleSettings = ReturnType<typeof settingsFor>;

function settingsFor(role: Role, model: Values, env: Values) {
  const backend = roleBackends(model)[role];
  const rows = rowsFor(role, backend, model);
  const read = (to: string) => {
    const row = rows.get(to);
    return row && readValue(`model.${row.key}`, row, model[row.key]);
  };
  const name = isBlank(model[role]) ? undefined : String(model[role]).trim();
  const seconds = isBlank(env.exec_timeout) ? undefined : readNumber('env.exec_timeout', env.exec_timeout);
  return {
    role,
    backend,
    name,
    /** The name, unless it is a default of SkillOpt, which other backends do not have. */
    chosen: name === 'gpt-5.4' || name === 'gpt-5.5' ? undefined : name,
    backendName: read(`${role}.model`),
    /** Whether `openai_chat` is Azure even without an endpoint. */
    isAzure: plainWord(model.backend ?? '').startsWith('azure'),
    limits: seconds === undefined ? undefined : { timeoutMs: Math.round(seconds * 1000) },
    options(): Values {
      const own = [...rows.keys()].filter((to) => to.startsWith(`${role}.`) && to !== `${role}.model`);
      return Object.fromEntries(own.map((to) => [to.slice(role.length + 1), read(to)]));
    },
    timeoutSeconds: () => Number(read('callTimeoutMs') ?? 0),
  };
}

/** The keys in the file that count for a role with this backend, by the option that they set. */
function rowsFor(role: Role, backend: Backend, model: Values): ReadonlyMap<string, KeyRow> {
  const used = KEY_TABLE.filter(
    (row) => row.backends?.includes(backend) && (row.role ?? role) === role && !isBlank(model[row.key]),
  );
  return new Map(used.flatMap((row) => (row.to ?? '').split(', ').map((to) => [to, row])));
}

const makers: Readonly<Record<Backend, (settings: RoleSettings) => ModelSpec | undefined>> = {
  openai_chat: openaiSpec,
  openai_compatible: compatibleSpec,
  qwen_chat: ({ chosen, options }) => block('qwen', { ...options(), model: chosen ?? 'Qwen/Qwen3.5-4B' }),
  minimax_chat: ({ chosen, backendName, options }) =>
    block('minimax', { ...options(), model: chosen ?? backendName ?? 'MiniMax-M3' }),
  claude_chat: ({ chosen }) => block('claude-cli', { model: chosen ?? 'claude-sonnet-4-6' }),
  copilot_chat: ({ chosen, backendName, options }) =>
    block('copilot-cli', { ...options(), model: backendName ?? chosen }),
  // As optimizer Codex answers a message, as `codex-cli` does. As target it works in a folder.
  codex_exec: (settings) =>
    settings.role === 'target'
      ? agentSpec('codex', settings)
      : block('codex-cli', { model: settings.name, ...settings.options() }),
  claude_code_exec: (settings) => agentSpec('claude', settings),
  cursor_exec: (settings) => agentSpec('cursor', settings),
  copilot_exec: (settings) => agentSpec('copilot', settings),
};

function openaiSpec({ name, isAzure, options }: RoleSettings): ModelSpec | undefined {
  if (name === undefined) return undefined;
  const { auth, apiVersion, ...shared } = options();
  const isOpenAi = auth === 'openai' || (auth === undefined && shared.baseURL === undefined && !isAzure);
  return isOpenAi
    ? block('openai', { model: name, ...shared })
    : block('azure', { model: name, ...shared, apiVersion, auth });
}

function compatibleSpec({ name, chosen, backendName, options }: RoleSettings): ModelSpec | undefined {
  const model = chosen ?? backendName ?? name;
  if (model === undefined) return undefined;
  const { temperature, ...others } = options();
  return block('compatible', { ...others, model, temperature: temperature ?? undefined });
}

/** An agent in a workspace, with the skill installed. As optimizer it is refused later, by name. */
function agentSpec(agent: string, { role, backend, name, chosen, limits, options }: RoleSettings): ModelSpec {
  if (role === 'optimizer') return `${backend}:${name ?? ''}`;
  return { agent, ...definedOnly({ model: chosen, ...options(), limits }) };
}

/** Without other options it is `openai:MODEL`. */
function block(provider: string, options: Values): ModelSpec {
  const { model, ...others } = definedOnly(options) as Values;
  if (Object.keys(others).length > 0) return { provider, ...(model === undefined ? {} : { model }), ...others };
  return model === undefined ? provider : `${provider}:${model}`;
}
