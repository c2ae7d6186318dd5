import type { JSONObject, LanguageModelV3 } from '@ai-sdk/provider';
import type { ChatModel } from '../../core/contracts/index.ts';
import { type ChatOptions, endpointModel } from '../ai-sdk/endpoint-model.ts';
import { type Endpoint, type EndpointOptions, parseEndpoint } from '../http/endpoint.ts';
import { withTokenLimitName } from '../http/endpoint-fetch.ts';
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
export function compatibleModel(provider: string, options: OpenAICompatibleOptions): ChatModel {
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
