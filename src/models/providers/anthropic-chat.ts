import type { LanguageModelV3CallOptions, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type ProviderEndpointOptions, parseEndpoint, sdkSettings } from '../endpoint.ts';

export type AnthropicChatOptions = Omit<ChatOptions, 'sendSeed'> &
  ProviderEndpointOptions & {
    /** Newer models decide for themselves (`adaptive`); older ones want a budget. Default: the model's own. */
    readonly thinking?: 'adaptive' | 'disabled' | { readonly budgetTokens: number } | undefined;
    readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  };

/**
 * A model of Anthropic. The system prompt is marked for the provider's cache, since a batch of tasks shares it. The key
 * is `apiKey` or the variable `ANTHROPIC_API_KEY`. Throws `CONFIG_INVALID` without one.
 */
export function anthropicChat(options: AnthropicChatOptions): ChatModel {
  const apiKey = requireKey(options.apiKey, { provider: 'anthropicChat', variables: ['ANTHROPIC_API_KEY'] });
  const { baseURL = 'https://api.anthropic.com/v1', headers, thinking, effort } = options;
  const endpoint = parseEndpoint({ baseURL, headers: { 'x-api-key': apiKey, ...headers } });
  return endpointModel(options, {
    provider: 'anthropic',
    endpoint,
    path: '/messages',
    settings: { thinking, effort },
    providerOptions: toProviderOptions(options),
    prepare: markSystemPrompt,
    structuredOutput: options.structuredOutput ?? (OLDER.test(options.model) ? 'off' : 'auto'),
    async load() {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ apiKey, ...sdkSettings(endpoint) }).chat(options.model);
    },
  });
}

/** Models that cannot be held to a schema. */
const OLDER = /^claude-(2|3|instant|(opus|sonnet)-4(-0|-2025\d{4})?$)/;

function toProviderOptions({ thinking, effort }: AnthropicChatOptions): SharedV3ProviderOptions {
  const type = typeof thinking === 'object' ? { type: 'enabled', ...thinking } : { type: thinking };
  const thought = thinking === undefined ? {} : { thinking: type };
  // The SDK sends schemas in two ways. Only this one goes together with thinking.
  return { anthropic: { ...thought, ...(effort ? { effort } : {}), structuredOutputMode: 'outputFormat' } };
}

const EPHEMERAL: SharedV3ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** A mark caches everything before it, so the last system message gets it. */
function markSystemPrompt(options: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  const last = options.prompt.findLastIndex(({ role }) => role === 'system');
  const mark = (message: (typeof options.prompt)[number], index: number) =>
    index === last ? { ...message, providerOptions: EPHEMERAL } : message;
  return { ...options, prompt: options.prompt.map(mark) };
}
