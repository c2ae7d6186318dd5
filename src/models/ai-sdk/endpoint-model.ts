import { createHash } from 'node:crypto';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { type AiSdkModelOptions, type AskedModel, aiSdkModel, type CallSettings, modelId } from './ai-sdk-model.ts';

/** The options of every provider that is reached over HTTP. */
export type ChatOptions = Omit<CallSettings, 'providerOptions'> & {
  readonly model: string;
  /** The variable that holds the key, for messages about a refused key. */
  readonly apiKeyVariable?: string | undefined;
};

type EndpointModelOptions = Pick<AiSdkModelOptions, 'providerOptions' | 'prepare' | 'structuredOutput'> & {
  /** The beginning of the model's id. */
  readonly provider: string;
  readonly endpoint: Endpoint;
  /** What the SDK adds to the base URL. */
  readonly path: string;
  /** Further settings that change answers. They become part of the id. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  load(): Promise<AskedModel>;
};

/** A model whose endpoint is known. Ids and messages name the endpoint, never its keys. */
export function endpointModel(
  { model, temperature, sendSeed, apiKeyVariable }: ChatOptions,
  { provider, endpoint, path, settings, structuredOutput, load, ...options }: EndpointModelOptions,
): ChatModel {
  const { name } = endpoint;
  const added = { temperature, sendSeed, structuredOutput };
  const chat = aiSdkModel(load, {
    ...options,
    ...added,
    id: modelId(`${provider}:${model}@${name}`, added, settings),
    call: { who: `${model} at ${name}`, endpoint, path, apiKeyVariable },
  });
  return { ...chat, account: accountOf(provider, endpoint), modelName: model };
}

/** Accounts at one endpoint differ by a hash of what signs in. */
function accountOf(provider: string, { name, headers, queryParams }: Endpoint): string {
  const key = createHash('sha256')
    .update(JSON.stringify([headers, queryParams]))
    .digest('hex')
    .slice(0, 12);
  return `${provider} ${name} ${key}`;
}

/** `variables` are looked at in their order. */
type KeySource = { readonly provider: string; readonly variables: readonly [string, ...string[]] };

/** The given key, or the one in the environment. Throws `CONFIG_INVALID` when there is none. */
export function requireKey(apiKey: string | undefined, { provider, variables }: KeySource): string {
  const key = [apiKey, ...variables.map((variable) => process.env[variable])].find(Boolean);
  if (key) return key;
  throw new SkillError('CONFIG_INVALID', `${provider} needs a key: no apiKey, and ${variables.join(' and ')} not set`, {
    hint: `Set it: export ${variables[0]}=… Or pass apiKey.`,
  });
}
