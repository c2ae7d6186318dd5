import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3GenerateResult } from '@ai-sdk/provider';
import { ModelCallError } from '../core/errors.ts';
import type { ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason } from '../core/model.ts';
import { type Endpoint, type EndpointOptions, parseEndpoint } from './endpoint.ts';
import { describeCall, type FailedCall } from './failed-call.ts';
import { httpFetch } from './http-fetch.ts';
import { toModelCallError } from './to-model-call-error.ts';

export type OpenAICompatibleOptions = EndpointOptions & {
  readonly model: string;
  /** For requests that name none. Without either, the server's own default applies. */
  readonly temperature?: number | undefined;
  /** What the endpoint calls the limit of a reply. Newer OpenAI models want `max_completion_tokens`. */
  readonly maxTokensParameter?: 'max_tokens' | 'max_completion_tokens' | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
};

/**
 * Any endpoint that speaks Chat Completions. Honours `HTTPS_PROXY` and its kin. Every failure is a `ModelCallError`
 * that names the model and the endpoint, never the key. A reply without text is a failure too.
 */
export function openaiCompatible(options: OpenAICompatibleOptions): ChatModel {
  const endpoint = parseEndpoint(options);
  const call = { model: options.model, endpoint };
  let loading: Promise<LanguageModelV3> | undefined;
  return {
    id: describeModel(options, endpoint),
    async complete(request) {
      request.signal?.throwIfAborted();
      loading ??= loadModel(options, endpoint);
      const model = await loading;
      const result = await generate(model, toCallOptions(options, request), call);
      return requireText(toReply(result), call);
    },
  };
}

function describeModel({ model, temperature, sendSeed }: OpenAICompatibleOptions, { name }: Endpoint): string {
  const settings = [temperature === undefined ? '' : `temperature=${temperature}`, sendSeed ? 'seed=sampleIndex' : ''];
  const suffix = settings.filter(Boolean).join('&');
  return `compatible:${model}@${name}${suffix && `?${suffix}`}`;
}

/** The SDK is loaded by the first call: who only wants help or a simulation does not pay for it. */
async function loadModel(options: OpenAICompatibleOptions, endpoint: Endpoint): Promise<LanguageModelV3> {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
  const provider = createOpenAICompatible({
    name: 'compatible',
    baseURL: endpoint.baseURL,
    headers: { ...endpoint.headers },
    queryParams: { ...endpoint.queryParams },
    fetch: httpFetch(endpoint.proxy),
    ...(options.maxTokensParameter === 'max_completion_tokens' ? { transformRequestBody: renameTokenLimit } : {}),
  });
  return provider.chatModel(options.model);
}

function renameTokenLimit({ max_tokens, ...body }: Record<string, unknown>): Record<string, unknown> {
  return { ...body, max_completion_tokens: max_tokens };
}

async function generate(
  model: LanguageModelV3,
  options: LanguageModelV3CallOptions,
  call: FailedCall,
): Promise<LanguageModelV3GenerateResult> {
  try {
    return await model.doGenerate(options);
  } catch (error) {
    options.abortSignal?.throwIfAborted(); // an abort is not a failure, whatever was thrown because of it
    throw toModelCallError(error, call);
  }
}

function toCallOptions(options: OpenAICompatibleOptions, request: ChatRequest): LanguageModelV3CallOptions {
  const { maxOutputTokens, temperature = options.temperature, sampleIndex = 0, signal } = request;
  return {
    prompt: request.messages.map(toPromptMessage),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(options.sendSeed ? { seed: sampleIndex } : {}),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  };
}

function toPromptMessage({ role, content }: ChatMessage): LanguageModelV3CallOptions['prompt'][number] {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] };
}

function toReply({ content, usage, finishReason }: LanguageModelV3GenerateResult): ChatReply {
  return {
    text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    usage: {
      input: usage.inputTokens.total ?? 0,
      cached: usage.inputTokens.cacheRead ?? 0,
      output: usage.outputTokens.total ?? 0,
      reasoning: usage.outputTokens.reasoning ?? 0,
    },
    finishReason: toFinishReason(finishReason.unified),
  };
}

function toFinishReason(reason: LanguageModelV3GenerateResult['finishReason']['unified']): FinishReason {
  return reason === 'stop' || reason === 'length' || reason === 'content-filter' ? reason : 'other';
}

function requireText(reply: ChatReply, call: FailedCall): ChatReply {
  if (reply.text.trim() !== '') return reply;
  const who = describeCall(call);
  if (reply.finishReason === 'length') {
    throw new ModelCallError(`${who}: the token limit cut the reply before any text came`, {
      isRetryable: false,
      hint: 'Raise the limit of output tokens: a model that reasons spends them on that first.',
    });
  }
  if (reply.finishReason === 'content-filter') {
    throw new ModelCallError(`${who}: a content filter withheld the reply`, { isRetryable: false });
  }
  throw new ModelCallError(`${who} sent a reply without text`, { isRetryable: true });
}
