import type { LanguageModelV2, LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { type ChatModel, ModelCallError } from '../../core/contracts/index.ts';
import { hideSecrets } from '../../core/guard/index.ts';
import { wantTokenLimitName } from '../http/endpoint-fetch.ts';
import { untilAborted } from '../on-abort.ts';
import type { FailedCall } from './failed-call.ts';
import { FormatRefused } from './format-refused.ts';
import { LimitRefused } from './limit-refused.ts';
import { providerWords } from './provider-words.ts';
import { noteRateLimit } from './rate-limit-headers.ts';
import { type CallSettings, toCallOptions, toResponseFormat } from './to-call-options.ts';
import { type GenerateResult, toChatReply } from './to-chat-reply.ts';
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
