import { z } from 'zod';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { describeIssue, suggestion } from '../../core/text/index.ts';
import { type FindOrigin, withPlace } from '../origin.ts';
import type { ModelContext, ModelRole, Notices, Provider } from './provider.ts';
import { AGENT_BACKENDS, isAgentSpec, providerAliases, providers } from './providers.ts';
import { readEnvFile } from './read-env-file.ts';

/** Environment variables: where keys are. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** `openai:MODEL`, or a block with a `provider` and its options. */
export type ModelSpec = string | Readonly<Record<string, unknown>>;

type ResolveOptions = {
  readonly role: ModelRole;
  readonly env: Environment;
  /** Where the project file is. Keys that `env` lacks are looked for in the file `.env` there. */
  readonly directory?: string | undefined;
  /** Where the model is named, for messages. */
  readonly findOrigin?: FindOrigin | undefined;
  /** Is notified of what is done for the first time, and of what has changed. */
  readonly notices?: Notices | undefined;
};

/** The model that a project names. No call is made; a missing key throws here. */
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

/** Throws if a model is named wrongly. Needs no key. */
export function checkModelSpec(spec: ModelSpec, role: ModelRole): void {
  const { name, settings } = readSpec(spec, role);
  parseOptions(findProvider(name, role), settings, role);
}

/** The options of a provider. Throws a line per problem, with the names that there are. */
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
    throw invalid(
      `${role}.provider must be text, got ${JSON.stringify(provider) ?? 'nothing'}`,
      `Providers: ${known()}`,
    );
  }
  const colon = spec.indexOf(':');
  const [name, rest] = colon === -1 ? [spec, ''] : [spec.slice(0, colon), spec.slice(colon + 1)];
  return { name, settings: findProvider(name, role).fromText(rest) };
}

function findProvider(typed: string, role: ModelRole): Provider {
  const name = Object.hasOwn(providerAliases, typed) ? providerAliases[typed]! : typed;
  if (Object.hasOwn(providers, name)) return providers[name]!;
  if (AGENT_BACKENDS.includes(name)) {
    const message = `${role}: ${name} is not a chat model: it runs an agent in a folder of files`;
    throw invalid(message, `Only a target can be an agent: target: { agent: claude }. Providers: ${known()}`);
  }
  const guess = suggestion(name, [...Object.keys(providers), ...Object.keys(providerAliases)]);
  throw invalid(`${role}: unknown provider ${JSON.stringify(name)}${guess}`, `Providers: ${known()}`);
}

async function modelContext(name: string, { role, env, directory, notices }: ResolveOptions): Promise<ModelContext> {
  const fromFile = directory === undefined ? {} : await readEnvFile(directory);
  const readSetting = (variable: string) => env[variable] ?? fromFile[variable];
  const readKey = (...variables: readonly string[]) => {
    const apiKeyVariable = variables.find(readSetting) ?? refuseMissingKey(variables, `the ${role} (${name})`);
    return { apiKey: readSetting(apiKeyVariable)!, apiKeyVariable };
  };
  return { role, env, directory, notices, readSetting, readKey };
}

function refuseMissingKey(variables: readonly string[], who: string): never {
  const [variable] = variables;
  const missing = variables.length === 1 ? `the variable ${variable} is not` : `none of ${variables.join(', ')} is`;
  throw invalid(
    `${who} needs a key, and ${missing} set`,
    `Set it: export ${variable}=… Or write ${variable}=… into the file .env beside the project file.`,
  );
}

const known = () =>
  Object.values(providers)
    .filter(({ usage }) => usage !== 'none')
    .map((provider) => provider.usage)
    .join(', ');

const invalid = (message: string, hint: string) => new SkillError('CONFIG_INVALID', message, { hint });
