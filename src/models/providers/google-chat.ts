import type { LanguageModelV3, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type Endpoint, endpointFetch, type ProviderEndpointOptions, parseEndpoint } from '../http/endpoint.ts';

export type GoogleChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** Tokens for reasoning; 0 turns it off where a model allows that. Newer models want `thinkingLevel` in its place. */
    readonly thinkingBudget?: number | undefined;
    readonly thinkingLevel?: 'minimal' | 'low' | 'medium' | 'high' | undefined;
  };

const KEY_VARIABLES = ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] as const;

/**
 * A Gemini model of Google. The key is `apiKey`, else the variable `GOOGLE_GENERATIVE_AI_API_KEY` or `GEMINI_API_KEY`;
 * without one, throws `CONFIG_INVALID`.
 */
export function googleChat(options: GoogleChatOptions): ChatModel {
  const apiKey = requireKey(options.apiKey, { provider: 'googleChat', variables: KEY_VARIABLES });
  const { baseURL = 'https://generativelanguage.googleapis.com/v1beta', headers } = options;
  const endpoint = parseEndpoint({ baseURL, headers: { 'x-goog-api-key': apiKey, ...headers } });
  const { thinkingBudget, thinkingLevel } = options;
  return endpointModel(options, {
    provider: 'google',
    endpoint,
    path: `/models/${options.model}:generateContent`,
    settings: { thinkingBudget, thinkingLevel },
    providerOptions: toProviderOptions(options),
    structuredOutput: options.structuredOutput ?? 'auto',
    load: () => loadModel(options.model, apiKey, endpoint),
  });
}

function toProviderOptions({ thinkingBudget, thinkingLevel }: GoogleChatOptions): SharedV3ProviderOptions {
  const budget = thinkingBudget === undefined ? {} : { thinkingBudget };
  const thinkingConfig = { ...budget, ...(thinkingLevel === undefined ? {} : { thinkingLevel }) };
  return { google: Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig } };
}

async function loadModel(model: string, apiKey: string, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
  const { baseURL, headers } = endpoint;
  return createGoogleGenerativeAI({ baseURL, apiKey, headers: { ...headers }, fetch: endpointFetch(endpoint) })(model);
}
