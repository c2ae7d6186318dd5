import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type Endpoint, endpointFetch, type ProviderEndpointOptions, parseEndpoint } from '../http/endpoint.ts';

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

type OpenAIDeployment = { readonly model: string; readonly api: OpenAIApi; readonly apiKey: string };

async function loadModel({ model, api, apiKey }: OpenAIDeployment, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createOpenAI } = await import('@ai-sdk/openai');
  const { baseURL, headers } = endpoint;
  const provider = createOpenAI({ baseURL, apiKey, headers: { ...headers }, fetch: endpointFetch(endpoint) });
  return provider[api](model);
}

/** How long a model of OpenAI reasons. Which of these it knows depends on the model. */
export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** Which of OpenAI's two ways to ask: most models answer to both, some only to Responses. */
export type OpenAIApi = 'chat' | 'responses';

/** Names of models that Chat Completions does not serve. */
const RESPONSES_ONLY = /^gpt-5.*-codex|^codex-mini|^(?:gpt-\d|o\d).*-pro(?:-\d{4}-\d\d-\d\d)?$/i;

export const apiFor = (model: string): OpenAIApi => (RESPONSES_ONLY.test(model) ? 'responses' : 'chat');

/** The same for Responses: it has a limit of its own, and nothing of a call is kept by the provider. */
export function responsesSettings(reasoningEffort: ReasoningEffort | undefined) {
  return ({ seed: _, ...options }: LanguageModelV3CallOptions): LanguageModelV3CallOptions => {
    return { ...options, providerOptions: { openai: { ...reasoning(reasoningEffort), store: false } } };
  };
}

/** Puts what OpenAI and Azure want into a call. Their limit is `max_completion_tokens`, for every model they serve. */
export function openaiSettings(reasoningEffort: ReasoningEffort | undefined) {
  return ({ maxOutputTokens, ...options }: LanguageModelV3CallOptions): LanguageModelV3CallOptions => {
    const limit = maxOutputTokens === undefined ? {} : { maxCompletionTokens: maxOutputTokens };
    return { ...options, providerOptions: { openai: { ...reasoning(reasoningEffort), ...limit } } };
  };
}

/** A caller that asks for reasoning has a model that reasons. The SDK knows that only of names it has heard of. */
function reasoning(reasoningEffort: ReasoningEffort | undefined) {
  if (reasoningEffort === undefined) return {};
  return reasoningEffort === 'none' ? { reasoningEffort } : { reasoningEffort, forceReasoning: true };
}
