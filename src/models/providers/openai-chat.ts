import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type ProviderEndpointOptions, parseEndpoint, sdkSettings } from '../endpoint.ts';

export type OpenAIChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** A model that reasons takes no temperature, so none is sent then. */
    readonly reasoningEffort?: ReasoningEffort | undefined;
    /** Default: Responses for models that answer to nothing else (`gpt-5-codex`, `o3-pro`), else Chat Completions. */
    readonly api?: OpenAIApi | undefined;
  };

/**
 * A model of OpenAI, over Chat Completions or Responses. The key is `apiKey` or the variable `OPENAI_API_KEY`. Throws
 * `CONFIG_INVALID` without one.
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
    prepare: openaiSettings(api, reasoningEffort),
    structuredOutput: options.structuredOutput ?? 'auto',
    async load() {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ apiKey, ...sdkSettings(endpoint) })[api](options.model);
    },
  });
}

/** How long a model of OpenAI reasons. Not every model knows all of these. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** OpenAI has two APIs. Most models answer to both, some only to Responses. */
export type OpenAIApi = 'chat' | 'responses';

/** Names of models that Chat Completions does not serve. */
const RESPONSES_ONLY = /^gpt-5.*-codex|^codex-mini|^(?:gpt-\d|o\d).*-pro(?:-\d{4}-\d\d-\d\d)?$/i;

export const apiFor = (model: string): OpenAIApi => (RESPONSES_ONLY.test(model) ? 'responses' : 'chat');

/** Changes a call to what OpenAI and Azure want. */
export function openaiSettings(api: OpenAIApi, effort: ReasoningEffort | undefined) {
  const reasoning = toReasoning(effort);
  return (sent: LanguageModelV3CallOptions): LanguageModelV3CallOptions => {
    if (api === 'responses') {
      const { seed: _, ...options } = sent;
      return { ...options, providerOptions: { openai: { ...reasoning, store: false } } };
    }
    const { maxOutputTokens, ...options } = sent; // their limit is `max_completion_tokens`, for every model
    const limit = maxOutputTokens === undefined ? {} : { maxCompletionTokens: maxOutputTokens };
    return { ...options, providerOptions: { openai: { ...reasoning, ...limit } } };
  };
}

/** A caller that asks for reasoning has a model that reasons. The SDK knows that only for some names. */
function toReasoning(reasoningEffort: ReasoningEffort | undefined) {
  if (reasoningEffort === undefined) return {};
  return reasoningEffort === 'none' ? { reasoningEffort } : { reasoningEffort, forceReasoning: true };
}
