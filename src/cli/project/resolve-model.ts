import { parseWith } from '../../core/config.ts';
import { SkillError } from '../../core/errors.ts';
import type { ChatModel } from '../../core/model.ts';
import { suggestion } from '../closest-name.ts';
import type { Io } from '../terminal/io.ts';
import { type ModelRole, type Provider, providers } from './providers.ts';

/** `openai:MODEL`, or a block with a `provider` and its options. */
export type ModelSpec = string | Readonly<Record<string, unknown>>;

type ResolveOptions = { readonly role: ModelRole; readonly env: Io['env'] };

/** The model that a project names. No call is made; a missing key is known here already. */
export async function resolveModel(spec: ModelSpec | undefined, { role, env }: ResolveOptions): Promise<ChatModel> {
  if (spec === undefined) {
    throw invalid(`no ${role} model is named`, `Name one in the project file or with --${role}: ${known()}`);
  }
  const { name, options } = readSpec(spec, role);
  const provider = findProvider(name, role);
  const parsed = parseWith(
    provider.options,
    options,
    `The ${role} (${provider.usage}) is not valid.`,
    `Providers: ${known()}`,
  );
  return provider.create(parsed, { role, readKey: (variable) => readKey(variable, { role, name, env }) });
}

function readSpec(spec: ModelSpec, role: ModelRole): { name: string; options: Readonly<Record<string, unknown>> } {
  if (typeof spec !== 'string') {
    const { provider, ...options } = spec;
    if (typeof provider === 'string') return { name: provider, options };
    throw invalid(`${role}.provider must be text, got ${JSON.stringify(provider)}`, `Providers: ${known()}`);
  }
  const colon = spec.indexOf(':');
  const [name, rest] = colon === -1 ? [spec, ''] : [spec.slice(0, colon), spec.slice(colon + 1)];
  return { name, options: findProvider(name, role).fromText(rest) };
}

function findProvider(name: string, role: ModelRole): Provider {
  if (Object.hasOwn(providers, name)) return providers[name]!;
  const guess = suggestion(name, Object.keys(providers));
  throw invalid(`${role}: unknown provider ${JSON.stringify(name)}${guess}`, `Providers: ${known()}`);
}

function readKey(variable: string, { role, name, env }: ResolveOptions & { name: string }): string {
  const key = env[variable];
  if (key) return key;
  throw invalid(
    `the ${role} (${name}) needs a key, and the variable ${variable} is not set`,
    `Set it: export ${variable}=…`,
  );
}

const known = () =>
  Object.values(providers)
    .map((provider) => provider.usage)
    .join(', ');

const invalid = (message: string, hint: string) => new SkillError('CONFIG_INVALID', message, { hint });
