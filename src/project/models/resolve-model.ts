import { z } from 'zod';
import { type AgentRunner, type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { describeIssue, suggestion } from '../../core/text/index.ts';
import type { LoadedProject } from '../load-project.ts';
import { type FindOrigin, isTyped, withPlace } from '../origin.ts';
import { resolveAgent } from './agent-target.ts';
import type { Environment, ModelContext, ModelRole, ModelSpec, Notices, Provider } from './provider.ts';
import { addressVariables, isAgentSpec, providers } from './providers.ts';
import { readEnvFile } from './read-env-file.ts';

type ResolveOptions = {
  readonly role: ModelRole;
  readonly env: Environment;
  /** The folder of the project. Its `.env` may hold keys that `env` lacks. */
  readonly directory?: string | undefined;
  readonly findOrigin?: FindOrigin | undefined;
  readonly notices?: Notices | undefined;
  /** Takes no address from the project's `.env`, but keys: texts that are sent are of the person, and who reads them was shown. */
  readonly isAddressOwn?: boolean | undefined;
  /** Whether the person names the model, by a flag or in settings of their own. Otherwise a project does. */
  readonly isSpecOwn?: boolean | undefined;
};

/** The model that a project names. It is not called yet. Throws for a missing key. */
export async function resolveModel(spec: ModelSpec | undefined, options: ResolveOptions): Promise<ChatModel> {
  const { role } = options;
  if (spec === undefined) {
    const none = role === 'target' ? '. If the environment asks no model: target: none' : '';
    throw invalid(`no ${role} model is named`, `Name one in the project file or with --${role}: ${known()}${none}`);
  }
  try {
    const { name, settings } = readSpec(spec, role);
    const provider = findProvider(name, role);
    return await provider.create(parseOptions(provider, settings, role), await modelContext(name, options));
  } catch (error) {
    throw await withPlace(error, [role], options.findOrigin);
  }
}

/** The address that a model is called at, as far as the settings or variables say one; otherwise it is the provider's own. */
export function addressOf(spec: ModelSpec, role: ModelRole, env: Environment): string | undefined {
  const { name, settings } = readSpec(spec, role);
  const { baseURL, resource } = settings;
  if (typeof baseURL === 'string') return baseURL;
  if (typeof resource === 'string') return `https://${resource}.openai.azure.com`;
  if (settings.region !== undefined) return undefined; // of MiniMax, whose variable counts without one
  const provider = Object.hasOwn(PROVIDER_ALIASES, name) ? PROVIDER_ALIASES[name]! : name;
  const found = (addressVariables(role)[provider] ?? []).map((variable) => env[variable]).find(Boolean);
  const own = provider === 'azure' ? env.AZURE_RESOURCE_NAME : undefined;
  return found ?? (own && `https://${own}.openai.azure.com`);
}

const ENDPOINT_KEYS = ['baseURL', 'resource', 'apiKeyEnv'] as const;

/** What a spec itself says of where a model is called and with which key. Variables do not count. */
export function namedEndpoint(spec: ModelSpec, role: ModelRole) {
  const settings = isAgentSpec(spec) && typeof spec !== 'string' ? spec : readSpec(spec, role).settings;
  const found = ENDPOINT_KEYS.filter((key) => typeof settings[key] === 'string');
  return Object.fromEntries(found.map((key) => [key, String(settings[key])])) as {
    readonly [Key in (typeof ENDPOINT_KEYS)[number]]?: string | undefined;
  };
}

/** Throws if a model is named wrongly. Needs no key. */
export function checkModelSpec(spec: ModelSpec, role: ModelRole): void {
  const { name, settings } = readSpec(spec, role);
  parseOptions(findProvider(name, role), settings, role);
}

function parseOptions(provider: Provider, settings: unknown, role: ModelRole): unknown {
  const result = provider.options.safeParse(settings);
  if (result.success) return result.data;
  const known = provider.options instanceof z.ZodObject ? Object.keys(provider.options.shape) : [];
  const problems = result.error.issues.map((issue) => {
    const [typed = ''] = issue.code === 'unrecognized_keys' ? issue.keys : [];
    return `  ${describeIssue(issue, settings)}${typed === '' ? '' : suggestion(typed, known)}`;
  });
  const title = `the ${role} (${provider.usage}) is not valid:`;
  throw invalid([title, ...problems].join('\n'), `It may have: provider, ${known.join(', ')}.`);
}

function readSpec(spec: ModelSpec, role: ModelRole): { name: string; settings: Readonly<Record<string, unknown>> } {
  if (typeof spec !== 'string') {
    if (role === 'target' && isAgentSpec(spec)) return { name: 'none', settings: {} };
    const { provider, ...settings } = spec;
    if (typeof provider === 'string') return { name: provider, settings };
    const got = JSON.stringify(provider) ?? 'nothing';
    throw invalid(`${role}.provider must be text, got ${got}`, `Providers: ${known()}`);
  }
  const colon = spec.indexOf(':');
  const [name, rest] = colon === -1 ? [spec, ''] : [spec.slice(0, colon), spec.slice(colon + 1)];
  return { name, settings: findProvider(name, role).fromText(rest) };
}

/** SkillOpt's names of the same providers. */
const PROVIDER_ALIASES: Readonly<Record<string, string>> = {
  openai_chat: 'openai',
  claude_chat: 'claude-cli',
  azure_openai: 'azure',
  qwen_chat: 'qwen',
  minimax_chat: 'minimax',
  openai_compatible: 'compatible',
  openai_compatible_chat: 'compatible',
  copilot_chat: 'copilot-cli',
  copilot_cli: 'copilot-cli',
  github_copilot: 'copilot-cli',
};

/** SkillOpt's names for agents, which are no chat models. */
const AGENT_BACKENDS: readonly string[] = ['codex_exec', 'claude_code_exec', 'cursor_exec', 'copilot_exec'];

function findProvider(typed: string, role: ModelRole): Provider {
  const name = Object.hasOwn(PROVIDER_ALIASES, typed) ? PROVIDER_ALIASES[typed]! : typed;
  if (Object.hasOwn(providers, name)) return providers[name]!;
  if (AGENT_BACKENDS.includes(name)) {
    const message = `${role}: ${name} is not a chat model: it runs an agent in a folder of files`;
    throw invalid(message, `Only a target can be an agent: target: { agent: claude }. Providers: ${known()}`);
  }
  const guess = suggestion(name, [...Object.keys(providers), ...Object.keys(PROVIDER_ALIASES)]) || modelGuess(name);
  throw invalid(`${role}: unknown provider ${JSON.stringify(name)}${guess}`, `Providers: ${known()}`);
}

/** Whose models have names like this. */
const MODEL_NAMES: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|chatgpt|o\d)(-|$)/i, 'openai'],
  [/^claude-/i, 'anthropic'],
  [/^(gemini|gemma)-/i, 'google'],
  [/^qwen/i, 'qwen'],
  [/^minimax-/i, 'minimax'],
];

function modelGuess(name: string): string {
  const [, provider] = MODEL_NAMES.find(([pattern]) => pattern.test(name)) ?? [];
  return provider === undefined ? '' : ` — did you mean ${provider}:${name}?`;
}

const ADDRESS = /_(BASE_URL|ENDPOINT|RESOURCE_NAME)$/;

async function modelContext(name: string, options: ResolveOptions): Promise<ModelContext> {
  const { role, env, directory, notices, isAddressOwn = false, isSpecOwn = false } = options;
  const fromFile = directory === undefined ? {} : await readEnvFile(directory);
  const readSetting = (variable: string) =>
    env[variable] ?? (isAddressOwn && ADDRESS.test(variable) ? undefined : fromFile[variable]);
  const readKey = (...variables: readonly string[]) => {
    const apiKeyVariable = variables.find(readSetting) ?? refuseMissingKey(variables, `the ${role} (${name})`);
    return { apiKey: readSetting(apiKeyVariable)!, apiKeyVariable };
  };
  const placeOf = (variable: string) => (env[variable] === undefined ? '.env' : 'person');
  const specPlace = isSpecOwn ? 'person' : 'project';
  return { role, specPlace, env, directory, notices, readSetting, readKey, placeOf };
}

function refuseMissingKey(variables: readonly string[], who: string): never {
  const [variable] = variables;
  const missing = variables.length === 1 ? `the variable ${variable} is not` : `none of ${variables.join(', ')} is`;
  throw invalid(
    `${who} needs a key, and ${missing} set`,
    `Set it: export ${variable}=… Or write ${variable}=… into the file .env beside the project file.`,
  );
}

function known(): string {
  const usages = Object.values(providers).map(({ usage }) => usage);
  return usages.filter((usage) => usage !== 'none').join(', ');
}

const invalid = (message: string, hint: string) => new SkillError('CONFIG_INVALID', message, { hint });

export type Caller = { readonly env: Environment; readonly notices?: Notices | undefined };

type ProjectModels = {
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge: ChatModel | undefined;
  readonly agent: AgentRunner | undefined;
};

/** The models that attempt and score tasks. Most environments need no judge. */
export type ScoringModels = Omit<ProjectModels, 'optimizer'>;

export async function resolveModels(loaded: LoadedProject, caller: Caller): Promise<ProjectModels> {
  return { ...(await resolveScoring(loaded, caller)), optimizer: await resolveRole(loaded, 'optimizer', caller) };
}

export async function resolveScoring(loaded: LoadedProject, caller: Caller): Promise<ScoringModels> {
  return {
    agent: await resolveAgent(loaded, caller),
    target: await resolveRole(loaded, 'target', caller),
    judge: loaded.project.judge === undefined ? undefined : await resolveRole(loaded, 'judge', caller),
  };
}

const NEEDED = ['target', 'optimizer'] as const;

/** The roles without a model. Throws if a model is named wrongly. Needs no key. */
export async function findUnnamed({ project, findOrigin }: LoadedProject): Promise<ModelRole[]> {
  for (const role of [...NEEDED, 'judge' as const]) {
    try {
      if (project[role] !== undefined) checkModelSpec(project[role], role);
    } catch (error) {
      throw await withPlace(error, [role], findOrigin);
    }
  }
  return NEEDED.filter((role) => project[role] === undefined);
}

export async function resolveRole(
  loaded: LoadedProject,
  role: ModelRole,
  { env, notices }: Caller,
): Promise<ChatModel> {
  const { project, directory, findOrigin } = loaded;
  const isSpecOwn = await isTyped(role, loaded);
  return resolveModel(project[role], { role, env, directory, findOrigin, notices, isSpecOwn });
}
