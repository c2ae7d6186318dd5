import type { JSONObject } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { knowKeysSent } from '../../core/guard/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import { type EndpointOptions, type ProviderEndpointOptions, parseEndpoint } from '../endpoint.ts';
import { chatCompletions } from './chat-completions.ts';

export type OpenAICompatibleOptions = EndpointOptions &
  ChatOptions & {
    /** What the endpoint calls the limit of a reply. Newer OpenAI models want `max_completion_tokens`. */
    readonly maxTokensParameter?: 'max_tokens' | 'max_completion_tokens' | undefined;
    /** Further fields that every request sends. They become part of the id. */
    readonly extraBody?: JSONObject | undefined;
  };

/**
 * Any endpoint that speaks Chat Completions. Honours `HTTPS_PROXY` and the like. Every failure is a `ModelCallError`
 * that names the model and the endpoint, never the key. A reply without text is a failure too.
 */
export const openaiCompatible = (options: OpenAICompatibleOptions): ChatModel => compatibleModel('compatible', options);

/** `provider` is the beginning of the id. */
function compatibleModel(provider: string, options: OpenAICompatibleOptions): ChatModel {
  const endpoint = parseEndpoint(options);
  knowKeysSent(options.extraBody);
  return endpointModel(options, {
    provider,
    endpoint,
    path: '/chat/completions',
    settings: options.extraBody,
    structuredOutput: options.structuredOutput,
    load: async () => chatCompletions(endpoint, options),
  });
}

export type MiniMaxChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** Where the account is: api.minimax.io (`global`) or api.minimaxi.com (`cn`). */
    readonly region?: 'global' | 'cn' | undefined;
    /** Models of the M2 family always get `adaptive`, which is all they know. Default: the model's own. */
    readonly thinking?: 'adaptive' | 'disabled' | undefined;
  };

/** Models that refuse a call without thinking. */
const ALWAYS_THINKS = /^(?:minimax-)?m2(?:[.-]|$)/i;

const REGIONS = { global: 'https://api.minimax.io/v1', cn: 'https://api.minimaxi.com/v1' };

/**
 * A model of MiniMax, at a temperature of 0.7 by default. The key is `apiKey` or the variable `MINIMAX_API_KEY`. Throws
 * `CONFIG_INVALID` without one.
 */
export function minimaxChat({ region = 'global', thinking, ...options }: MiniMaxChatOptions): ChatModel {
  const { baseURL = REGIONS[region], temperature = 0.7 } = options;
  const type = ALWAYS_THINKS.test(options.model) ? 'adaptive' : thinking;
  return compatibleModel('minimax', {
    ...options,
    baseURL,
    temperature,
    apiKey: requireKey(options.apiKey, { provider: 'minimaxChat', variables: ['MINIMAX_API_KEY'] }),
    maxTokensParameter: 'max_completion_tokens',
    // Otherwise the text begins with the model's thoughts.
    extraBody: { reasoning_split: true, ...(type === undefined ? {} : { thinking: { type } }) },
  });
}

export type QwenChatOptions = Omit<ChatOptions, 'temperature'> &
  ProviderEndpointOptions & {
    /** Default 0.7; `null` sends none. */
    readonly temperature?: number | null | undefined;
    /** Whether the model thinks before it answers. Default: as its server was started. */
    readonly thinkingMode?: 'server_default' | 'enabled' | 'disabled' | undefined;
  };

/** A Qwen model behind vLLM, SGLang or the like. Default: port 8000 of this machine, at a temperature of 0.7. */
export function qwenChat({ thinkingMode = 'server_default', ...options }: QwenChatOptions): ChatModel {
  const { baseURL = 'http://localhost:8000/v1', temperature = 0.7 } = options;
  return compatibleModel('qwen', {
    ...options,
    baseURL,
    temperature: temperature ?? undefined,
    extraBody:
      thinkingMode === 'server_default'
        ? {}
        : { chat_template_kwargs: { enable_thinking: thinkingMode === 'enabled' } },
  });
}
