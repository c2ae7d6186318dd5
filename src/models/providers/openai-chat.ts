import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel } from '../ai-sdk/endpoint-model.ts';
import { type Endpoint, type ProviderEndpointOptions, parseEndpoint } from '../http/endpoint.ts';
import { endpointFetch } from '../http/endpoint-fetch.ts';
import { apiFor, type OpenAIApi, openaiSettings, type ReasoningEffort, responsesSettings } from './openai-settings.ts';
import { requireKey } from './require-key.ts';

export type OpenAIChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** A model that reasons takes no temperature: it is left out then. */
    readonly reasoningEffort?: ReasoningEffort | undefined;
    /** Default: Responses for models that answer to nothing else (`gpt-5-codex`, `o3-pro`), else Chat Completions. */
    readonly api?: OpenAIApi | undefined;
  };

/**
 * A model of OpenAI, over Chat Completions or Responses. The key is `apiKey`, else the variable `OPENAI_API_KEY`; without one,
 * throws `CONFIG_INVALID`.
 */
export function openaiChat(options: OpenAIChatOptions): ChatModel {
  const apiKey = requireKey(options.apiKey, { provider: 'openaiChat', variables: ['OPENAI_API_KEY'] });
  const { baseURL = 'https://api.openai.com/v1', headers, reasoningEffort, api = apiFor(options.model) } = options;
  const endpoint = parseEndpoint({ baseURL, apiKey, headers });
  return endpointModel(options, {
    provider: 'openai',
    endpoint,
    path: api === 'responses' ? '/responses' : '/chat/completions',
    settings: { reasoningEffort, api: options.api },
    prepare: api === 'responses' ? responsesSettings(reasoningEffort) : openaiSettings(reasoningEffort),
    structuredOutput: options.structuredOutput ?? 'auto',
    load: () => loadModel({ model: options.model, api, apiKey }, endpoint),
  });
}

type Wanted = { readonly model: string; readonly api: OpenAIApi; readonly apiKey: string };

async function loadModel({ model, api, apiKey }: Wanted, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const { baseURL, headers } = endpoint;
  const provider = createOpenAI({ baseURL, apiKey, headers: { ...headers }, fetch: endpointFetch(endpoint) });
  return provider[api](model);
}
