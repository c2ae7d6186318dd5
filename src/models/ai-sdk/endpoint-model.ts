import { createHash } from 'node:crypto';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { type AiSdkModelOptions, aiSdkModel, modelId, type StructuredOutput } from './ai-sdk-model.ts';

/** What every provider that is reached over HTTP takes. */
export type ChatOptions = {
  readonly model: string;
  /** For requests that name none. Without either, the provider's own default applies. */
  readonly temperature?: number | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
  /**
   * Whether requests that have a schema send it, so that the provider holds the model to it (`auto`), or only ask in
   * words (`off`). A provider that refuses is asked in words from then on.
   */
  readonly structuredOutput?: StructuredOutput | undefined;
  /** The variable that the key came from: messages about a refused key name it. */
  readonly apiKeyVariable?: string | undefined;
};

type EndpointModelOptions = Pick<AiSdkModelOptions, 'providerOptions' | 'prepare' | 'structuredOutput'> & {
  /** What ids begin with. */
  readonly provider: string;
  readonly endpoint: Endpoint;
  /** What the SDK adds to the base URL. */
  readonly path: string;
  /** Further settings that change answers: they become part of the id. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  load(): Promise<LanguageModelV3>;
};

/** A model whose endpoint is known: ids and messages name it, never its keys. */
export function endpointModel(
  { model, temperature, sendSeed, apiKeyVariable }: ChatOptions,
  { provider, endpoint, path, settings, structuredOutput, load, ...options }: EndpointModelOptions,
): ChatModel {
  const structured = structuredOutput === 'auto' ? { structuredOutput } : {};
  const seed = sendSeed ? 'sampleIndex' : undefined;
  const named = { account: accountOf(provider, endpoint), modelName: model };
  const chat = aiSdkModel(load, {
    ...options,
    temperature,
    sendSeed,
    structuredOutput,
    id: modelId(`${provider}:${model}@${endpoint.name}`, { temperature, seed, ...settings, ...structured }),
    call: { who: `${model} at ${endpoint.name}`, secrets: endpoint.secrets, endpoint, path, apiKeyVariable },
  });
  return { ...chat, ...named };
}

/** Told apart by their secrets without telling them. */
function accountOf(provider: string, { name, secrets }: Endpoint): string {
  const key = createHash('sha256').update(JSON.stringify(secrets)).digest('hex').slice(0, 12);
  return `${provider} ${name} ${key}`;
}

type KeySource = {
  /** How messages name the provider that wants the key. */
  readonly provider: string;
  /** Where it is looked for, in this order. */
  readonly variables: readonly [string, ...string[]];
};

/** The given key, else that of the environment. Throws `CONFIG_INVALID`, with what to type, when there is none. */
export function requireKey(apiKey: string | undefined, { provider, variables }: KeySource): string {
  const key = [apiKey, ...variables.map((variable) => process.env[variable])].find(Boolean);
  if (key) return key;
  throw new SkillError('CONFIG_INVALID', `${provider} needs a key: no apiKey, and ${variables.join(' and ')} not set`, {
    hint: `Set it: export ${variables[0]}=… Or pass apiKey.`,
  });
}
