import { createHash } from 'node:crypto';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/model.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { type AiSdkModelOptions, aiSdkModel } from './ai-sdk-model.ts';
import { modelId } from './model-id.ts';

/** What every provider that is reached over HTTP takes. */
export type ChatOptions = {
  readonly model: string;
  /** For requests that name none. Without either, the provider's own default applies. */
  readonly temperature?: number | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
};

type EndpointModelOptions = Pick<AiSdkModelOptions, 'providerOptions' | 'prepare'> & {
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
  { model, temperature, sendSeed }: ChatOptions,
  { provider, endpoint, path, settings, load, ...options }: EndpointModelOptions,
): ChatModel {
  const seed = sendSeed ? 'sampleIndex' : undefined;
  const named = { account: accountOf(provider, endpoint), modelName: model };
  const chat = aiSdkModel(load, {
    ...options,
    temperature,
    sendSeed,
    id: modelId(`${provider}:${model}@${endpoint.name}`, { temperature, seed, ...settings }),
    call: { who: `${model} at ${endpoint.name}`, secrets: endpoint.secrets, endpoint, path },
  });
  return { ...chat, ...named };
}

/** Told apart by their secrets without telling them. */
function accountOf(provider: string, { name, secrets }: Endpoint): string {
  const key = createHash('sha256').update(JSON.stringify(secrets)).digest('hex').slice(0, 12);
  return `${provider} ${name} ${key}`;
}
