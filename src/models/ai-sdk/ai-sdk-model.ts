import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3GenerateResult,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type FinishReason,
  ModelCallError,
  type Usage,
} from '../../core/contracts/index.ts';
import { hideSecrets } from '../../core/guard/index.ts';
import { wantTokenLimitName } from '../http/endpoint.ts';
import { untilAborted } from '../on-abort.ts';
import { type FailedCall, providerWords } from './provider-words.ts';
import { noteRateLimit } from './rate-limit-headers.ts';
import { FormatRefused, LimitRefused } from './refusals.ts';
import { strictSchema } from './strict-schema.ts';
import { toModelCallError } from './to-model-call-error.ts';

/** A model object of the AI SDK. */
export type AiSdkLanguageModel = LanguageModelV3 | LanguageModelV2;

export type AiSdkModelOptions = CallSettings & {
  readonly id: string;
  readonly call: FailedCall;
  /** Has the last word on what is sent. */
  readonly prepare?: ((options: LanguageModelV3CallOptions) => LanguageModelV3CallOptions) | undefined;
};

/**
 * A `ChatModel` over a model of the AI SDK, which the first call loads: a command that prints help or simulates does not
 * pay for it. Calls `doGenerate` itself, since what lies above it retries and prints.
 */
export function aiSdkModel(load: () => Promise<AiSdkLanguageModel>, options: AiSdkModelOptions): ChatModel {
  const { id, call, prepare = (sent) => sent } = options;
  const getModel = loadOnce(load, call);
  let model: AiSdkLanguageModel | undefined;
  let isStructured = options.structuredOutput === 'auto';
  return {
    id,
    async complete(request) {
      request.signal?.throwIfAborted();
      model ??= await untilAborted(getModel(), request.signal);
      const format = isStructured ? toResponseFormat(request) : undefined;
      try {
        const result = await generate(model, prepare(toCallOptions(options, request, format)), call);
        return noteRateLimit(toChatReply(result, call), result.response?.headers);
      } catch (error) {
        if (error instanceof FormatRefused) isStructured = false;
        if (error instanceof LimitRefused) wantTokenLimitName(call.endpoint!, error.limitName);
        throw error;
      }
    },
  };
}

/** Calls that come while the model loads wait for it together. A failure to load is not kept. */
function loadOnce<T>(load: () => Promise<T>, call: FailedCall): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const fail = (error: unknown): never => {
    loading = undefined;
    throw unloadable(error, call);
  };
  return () => {
    loading ??= Promise.resolve().then(load).catch(fail);
    return loading;
  };
}

function unloadable(error: unknown, { who, secrets }: FailedCall): ModelCallError {
  if (error instanceof ModelCallError) return error;
  const words = providerWords(error instanceof Error ? error.message : String(error), secrets);
  return new ModelCallError(`${who} could not be loaded: ${words}`, { isRetryable: false, isFatal: true });
}

async function generate(
  model: AiSdkLanguageModel,
  options: LanguageModelV3CallOptions,
  call: FailedCall,
): Promise<GenerateResult> {
  try {
    return await (model as LanguageModelV3).doGenerate(options); // both versions take what is sent here
  } catch (error) {
    options.abortSignal?.throwIfAborted(); // an abort is not a failure, whatever was thrown because of it
    throw toModelCallError(error, call, options);
  }
}

type Settings = Readonly<Record<string, unknown>>;

/**
 * `name?setting=value&…`, without the settings that are undefined: what the replies of a model are cached under. Ids are
 * written down, so what looks like a secret is not in them.
 */
export function modelId(name: string, settings: Settings): string {
  const given = Object.entries(hideSecrets(settings) as Settings).filter(([, value]) => value !== undefined);
  const suffix = given.map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return suffix.length === 0 ? name : `${name}?${suffix.join('&')}`;
}

/** Whether a provider holds its model to the schema of a request. */
export type StructuredOutput = 'auto' | 'off';

/** What a model adds to every request. */
export type CallSettings = {
  /** For requests that name none. Without either, the provider's own default applies. */
  readonly temperature?: number | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
  /**
   * `auto` sends the schema of requests that have one and whose schema can be sent, until the provider refuses it.
   * Default: `off`, and the prompt alone asks for JSON.
   */
  readonly structuredOutput?: StructuredOutput | undefined;
  /** What only this provider understands, by the provider's name in the AI SDK. */
  readonly providerOptions?: SharedV3ProviderOptions | undefined;
};

type ResponseFormat = NonNullable<LanguageModelV3CallOptions['responseFormat']>;

/** A request in the words of the AI SDK, with nothing in it that was not asked for. */
function toCallOptions(
  settings: CallSettings,
  request: ChatRequest,
  responseFormat?: ResponseFormat,
): LanguageModelV3CallOptions {
  const { maxOutputTokens, temperature = settings.temperature, sampleIndex = 0, signal } = request;
  const { sendSeed, providerOptions } = settings;
  return {
    prompt: request.messages.map(toPromptMessage),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(sendSeed ? { seed: sampleIndex } : {}),
    ...(providerOptions === undefined ? {} : { providerOptions }),
    ...(signal === undefined ? {} : { abortSignal: signal }),
  };
}

function toPromptMessage({ role, content }: ChatMessage): LanguageModelV3CallOptions['prompt'][number] {
  return role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] };
}

/** What holds a model to the schema of `request`, if it has one and that can be sent. */
function toResponseFormat({ schema }: ChatRequest): ResponseFormat | undefined {
  const strict = schema && strictSchema(schema);
  return strict && { type: 'json', name: 'reply', schema: strict };
}

type ResultV2 = Awaited<ReturnType<LanguageModelV2['doGenerate']>>;

/** What a model of the AI SDK generates, in either version of its specification. */
type GenerateResult = LanguageModelV3GenerateResult | ResultV2;

/** The text and what it cost. A reply without text is a failure of the call. */
function toChatReply({ content, usage, finishReason }: GenerateResult, call: FailedCall): ChatReply {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const reason = toFinishReason(typeof finishReason === 'string' ? finishReason : finishReason.unified);
  if (text.trim() === '') throw withoutText(reason, call.who);
  return { text, usage: toUsage(usage), finishReason: reason };
}

function toUsage(usage: GenerateResult['usage']): Usage {
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens !== 'object' || typeof outputTokens !== 'object') return toUsageV2(usage as ResultV2['usage']);
  return {
    input: inputTokens.total ?? 0,
    cached: inputTokens.cacheRead ?? 0,
    output: outputTokens.total ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  };
}

function toUsageV2({ inputTokens, cachedInputTokens, outputTokens, reasoningTokens }: ResultV2['usage']): Usage {
  return {
    input: inputTokens ?? 0,
    cached: cachedInputTokens ?? 0,
    output: outputTokens ?? 0,
    reasoning: reasoningTokens ?? 0,
  };
}

function toFinishReason(reason: string): FinishReason {
  return reason === 'stop' || reason === 'length' || reason === 'content-filter' ? reason : 'other';
}

function withoutText(reason: FinishReason, who: string): ModelCallError {
  if (reason === 'length') {
    return new ModelCallError(`${who}: the token limit cut the reply before any text came`, {
      isRetryable: false,
      hint: 'Raise the limit of output tokens: a model that reasons spends them on that first.',
    });
  }
  if (reason === 'content-filter') {
    return new ModelCallError(`${who}: a content filter withheld the reply`, { isRetryable: false });
  }
  const hint = 'The reply was empty: check the name of the model and its settings, or try another model.';
  return new ModelCallError(`${who} sent a reply without text`, { isRetryable: true, hint });
}
