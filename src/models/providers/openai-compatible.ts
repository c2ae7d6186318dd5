import type { JSONObject, LanguageModelV3 } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel, requireKey } from '../ai-sdk/endpoint-model.ts';
import {
  type Endpoint,
  type EndpointOptions,
  type ProviderEndpointOptions,
  parseEndpoint,
  withTokenLimitName,
} from '../http/endpoint.ts';
import { httpFetch } from '../http/http-fetch.ts';

export type OpenAICompatibleOptions = EndpointOptions &
  ChatOptions & {
    /** What the endpoint calls the limit of a reply. Newer OpenAI models want `max_completion_tokens`. */
    readonly maxTokensParameter?: 'max_tokens' | 'max_completion_tokens' | undefined;
    /** Fields of the server's own, sent with every request. They become part of the id. */
    readonly extraBody?: JSONObject | undefined;
  };

/**
 * Any endpoint that speaks Chat Completions. Honours `HTTPS_PROXY` and its kin. Every failure is a `ModelCallError`
 * that names the model and the endpoint, never the key. A reply without text is a failure too.
 */
export function openaiCompatible(options: OpenAICompatibleOptions): ChatModel {
  return compatibleModel('compatible', options);
}

/** The same under another name: what ids begin with. */
function compatibleModel(provider: string, options: OpenAICompatibleOptions): ChatModel {
  const endpoint = parseEndpoint(options);
  return endpointModel(options, {
    provider,
    endpoint,
    path: '/chat/completions',
    settings: options.extraBody,
    structuredOutput: options.structuredOutput,
    load: () => loadModel(options, endpoint),
  });
}

async function loadModel(options: OpenAICompatibleOptions, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'compatible',
    baseURL: endpoint.baseURL,
    headers: { ...endpoint.headers },
    queryParams: { ...endpoint.queryParams },
    fetch: withTokenLimitName(httpFetch(endpoint.proxy), endpoint),
    supportsStructuredOutputs: options.structuredOutput === 'auto',
    ...(hasOwnBody(options) ? { transformRequestBody: (body: Body) => toServerBody(body, options) } : {}),
  });
  return provider.chatModel(options.model);
}

type Body = Record<string, unknown>;

const hasOwnBody = ({ maxTokensParameter, extraBody }: OpenAICompatibleOptions) =>
  maxTokensParameter === 'max_completion_tokens' || extraBody !== undefined;

function toServerBody({ max_tokens, ...body }: Body, { maxTokensParameter, extraBody }: OpenAICompatibleOptions): Body {
  return { ...body, [maxTokensParameter ?? 'max_tokens']: max_tokens, ...extraBody };
}

export type MiniMaxChatOptions = ChatOptions &
  ProviderEndpointOptions & {
    /** Where the account is: api.minimax.io (`global`) or api.minimaxi.com (`cn`). */
    readonly region?: 'global' | 'cn' | undefined;
    /** Models of the M2 family always get `adaptive`: they know nothing else. Without it: the model's default. */
    readonly thinking?: 'adaptive' | 'disabled' | undefined;
  };

/** They think, or refuse the call. */
const ALWAYS_THINKS = /^(?:minimax-)?m2(?:[.-]|$)/i;

const REGIONS = { global: 'https://api.minimax.io/v1', cn: 'https://api.minimaxi.com/v1' };

/**
 * A model of MiniMax, drawn from at a temperature of 0.7 unless told. The key is `apiKey`, else the variable
 * `MINIMAX_API_KEY`; without one, throws `CONFIG_INVALID`.
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
    // Thoughts apart from the text, which otherwise begins with them.
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

/**
 * A Qwen model behind vLLM, SGLang or the like, on this machine at port 8000 unless `baseURL` says otherwise. Draws at a
 * temperature of 0.7 unless told.
 */
export function qwenChat({ thinkingMode = 'server_default', ...options }: QwenChatOptions): ChatModel {
  const { baseURL = 'http://localhost:8000/v1', temperature = 0.7 } = options;
  return compatibleModel('qwen', {
    ...options,
    baseURL,
    temperature: temperature ?? undefined,
    extraBody: thinking(thinkingMode),
  });
}

function thinking(mode: NonNullable<QwenChatOptions['thinkingMode']>): JSONObject {
  return mode === 'server_default' ? {} : { chat_template_kwargs: { enable_thinking: mode === 'enabled' } };
}
