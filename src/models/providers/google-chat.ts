import type { ChatModel } from '../../core/contracts/index.ts';
import { defined } from '../../core/text/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type ProviderEndpointOptions, parseEndpoint, sdkSettings } from '../endpoint.ts';

export type GoogleChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** Tokens for reasoning; 0 turns it off where a model allows that. Newer models want `thinkingLevel` instead. */
    readonly thinkingBudget?: number | undefined;
    readonly thinkingLevel?: 'minimal' | 'low' | 'medium' | 'high' | undefined;
  };

const KEY_VARIABLES = ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] as const;

/**
 * A Gemini model of Google. The key is `apiKey` or the variable `GOOGLE_GENERATIVE_AI_API_KEY` or `GEMINI_API_KEY`.
 * Throws `CONFIG_INVALID` without one.
 */
export function googleChat(options: GoogleChatOptions): ChatModel {
  const apiKey = requireKey(options.apiKey, { provider: 'googleChat', variables: KEY_VARIABLES });
  const { baseURL = 'https://generativelanguage.googleapis.com/v1beta', headers } = options;
  const endpoint = parseEndpoint({ baseURL, headers: { 'x-goog-api-key': apiKey, ...headers } });
  const { thinkingBudget, thinkingLevel } = options;
  const thinkingConfig = defined({ thinkingBudget, thinkingLevel });
  return endpointModel(options, {
    provider: 'google',
    endpoint,
    path: `/models/${options.model}:generateContent`,
    settings: { thinkingBudget, thinkingLevel },
    providerOptions: { google: Object.keys(thinkingConfig).length === 0 ? {} : { thinkingConfig } },
    structuredOutput: options.structuredOutput ?? 'auto',
    async load() {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ apiKey, ...sdkSettings(endpoint) })(options.model);
    },
  });
}
