import type { LanguageModelV3, LanguageModelV3CallOptions, SharedV3ProviderOptions } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type Endpoint, endpointFetch, type ProviderEndpointOptions, parseEndpoint } from '../http/endpoint.ts';

export type AnthropicChatOptions = Omit<ChatOptions, 'sendSeed'> &
  ProviderEndpointOptions & {
    /** Newer models decide for themselves (`adaptive`); older ones want a budget. Without it: the model's default. */
    readonly thinking?: 'adaptive' | 'disabled' | { readonly budgetTokens: number } | undefined;
    readonly effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max' | undefined;
  };

/**
 * A model of Anthropic. The system prompt is marked for the provider's cache, since a batch of tasks shares it. The key
 * is `apiKey`, else the variable `ANTHROPIC_API_KEY`; without one, throws `CONFIG_INVALID`.
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
    load: () => loadModel(options.model, apiKey, endpoint),
  });
}

/** Models that cannot be held to a schema. */
const OLDER = /^claude-(2|3|instant|(opus|sonnet)-4(-0|-2025\d{4})?$)/;

function toProviderOptions({ thinking, effort }: AnthropicChatOptions): SharedV3ProviderOptions {
  const type = typeof thinking === 'object' ? { type: 'enabled', ...thinking } : { type: thinking };
  const thought = thinking === undefined ? {} : { thinking: type };
  // Of the SDK's two ways to a schema, the one that goes together with thinking.
  return { anthropic: { ...thought, ...(effort ? { effort } : {}), structuredOutputMode: 'outputFormat' } };
}

const EPHEMERAL: SharedV3ProviderOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** A mark caches all that comes before it, so the last system message gets it. */
function markSystemPrompt(options: LanguageModelV3CallOptions): LanguageModelV3CallOptions {
  const last = options.prompt.findLastIndex(({ role }) => role === 'system');
  const mark = (message: (typeof options.prompt)[number], index: number) =>
    index === last ? { ...message, providerOptions: EPHEMERAL } : message;
  return { ...options, prompt: options.prompt.map(mark) };
}

async function loadModel(model: string, apiKey: string, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createAnthropic } = await import('@ai-sdk/anthropic');
  const { baseURL, headers } = endpoint;
  return createAnthropic({ baseURL, apiKey, headers: { ...headers }, fetch: endpointFetch(endpoint) }).chat(model);
}
