import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/model.ts';
import { type ChatOptions, endpointModel } from '../ai-sdk/endpoint-model.ts';
import { type Endpoint, type ProviderEndpointOptions, parseEndpoint } from '../http/endpoint.ts';
import { endpointFetch } from '../http/endpoint-fetch.ts';
import { openaiSettings, type ReasoningEffort } from './openai-settings.ts';
import { requireKey } from './require-key.ts';

export type OpenAIChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** A model that reasons takes no temperature: it is left out then. */
    readonly reasoningEffort?: ReasoningEffort | undefined;
  };

/**
 * A model of OpenAI, over Chat Completions. The key is `apiKey`, else the variable `OPENAI_API_KEY`; without one,
 * throws `CONFIG_INVALID`.
 */
export function openaiChat(options: OpenAIChatOptions): ChatModel {
  const apiKey = requireKey(options.apiKey, { provider: 'openaiChat', variables: ['OPENAI_API_KEY'] });
  const { baseURL = 'https://api.openai.com/v1', headers, reasoningEffort } = options;
  const endpoint = parseEndpoint({ baseURL, apiKey, headers });
  return endpointModel(options, {
    provider: 'openai',
    endpoint,
    path: '/chat/completions',
    settings: { reasoningEffort },
    prepare: openaiSettings(reasoningEffort),
    structuredOutput: options.structuredOutput ?? 'auto',
    load: () => loadModel(options.model, apiKey, endpoint),
  });
}

async function loadModel(model: string, apiKey: string, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const { baseURL, headers } = endpoint;
  return createOpenAI({ baseURL, apiKey, headers: { ...headers }, fetch: endpointFetch(endpoint) }).chat(model);
}
