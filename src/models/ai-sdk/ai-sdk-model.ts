import type {
  JSONSchema7,
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3GenerateResult,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import { z } from 'zod';
import {
  type ChatImage,
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  type FinishReason,
  ModelCallError,
  type Usage,
} from '../../core/contracts/index.ts';
import { hashKeys, hideSecrets, maskKeys } from '../../core/guard/index.ts';
import { defined, memoize, toCamelCase, toSnakeCase } from '../../core/text/index.ts';
import { wantTokenLimitName } from '../endpoint.ts';
import { untilAborted } from '../on-abort.ts';
import { type FailedCall, providerWords } from './provider-words.ts';
import { noteRateLimit } from './rate-limit-headers.ts';
import { FormRefused, toModelCallError } from './to-model-call-error.ts';

/** A model object of the AI SDK. */
export type AiSdkLanguageModel = LanguageModelV3 | LanguageModelV2;

/** All that is used of one. */
export type AskedModel = Pick<LanguageModelV3, 'doGenerate'> | LanguageModelV2;

/** What a model adds to every request. */
export type CallSettings = {
  /** For requests that name none. Without either, the provider's own default applies. */
  readonly temperature?: number | undefined;
  /** Sends the sample index as `seed`. */
  readonly sendSeed?: boolean | undefined;
  /**
   * Whether a provider holds its model to the schema of a request. `auto` sends the schema of requests that have one and whose schema can be sent, until the provider refuses it.
   * `off` asks for JSON in the prompt alone.
   */
  readonly structuredOutput?: 'auto' | 'off' | undefined;
  /** Options for this provider alone, by the provider's name in the AI SDK. */
  readonly providerOptions?: SharedV3ProviderOptions | undefined;
};

export type AiSdkModelOptions = CallSettings & {
  readonly id: string;
  readonly call: FailedCall;
  /** Changes the request just before it is sent. */
  readonly prepare?: ((options: LanguageModelV3CallOptions) => LanguageModelV3CallOptions) | undefined;
};

/**
 * A `ChatModel` over a model of the AI SDK. The first call loads that model, so that a command that prints help does not
 * pay for it. Calls `doGenerate` directly, because the functions above it retry and print.
 */
export function aiSdkModel(load: () => Promise<AskedModel>, options: AiSdkModelOptions): ChatModel {
  const { id, call, prepare = (sent) => sent } = options;
  const getModel = loadOnce(load, call);
  let model: AskedModel | undefined;
  let isStructured = options.structuredOutput === 'auto';
  return {
    id,
    readsImages: true, // whether this one does, its provider says
    async complete(request) {
      request.signal?.throwIfAborted();
      model ??= await untilAborted(getModel(), request.signal);
      const schema = isStructured && request.schema ? strictSchema(request.schema) : undefined;
      try {
        const result = await generate(model, prepare(toCallOptions(options, request, schema)), call);
        return noteRateLimit(toChatReply(result, call), result.response?.headers);
      } catch (error) {
        if (error instanceof FormRefused && error.limitName) wantTokenLimitName(call.endpoint!, error.limitName);
        else if (error instanceof FormRefused) isStructured = false;
        throw error;
      }
    },
  };
}

/** Calls that come while the model loads wait for it together. A failure to load is not kept. */
function loadOnce<T>(load: () => Promise<T>, { who }: FailedCall): () => Promise<T> {
  let loading: Promise<T> | undefined;
  const fail = (error: unknown): never => {
    loading = undefined;
    if (error instanceof ModelCallError) throw error;
    const words = providerWords(error instanceof Error ? error.message : String(error));
    throw new ModelCallError(`${who} could not be loaded: ${words}`, { isRetryable: false, isFatal: true });
  };
  return () => {
    loading ??= Promise.resolve().then(load).catch(fail);
    return loading;
  };
}

async function generate(
  model: AskedModel,
  options: LanguageModelV3CallOptions,
  call: FailedCall,
): Promise<GenerateResult> {
  try {
    return await (model as LanguageModelV3).doGenerate(options); // both versions take these options
  } catch (error) {
    options.abortSignal?.throwIfAborted(); // an abort is not a failure, whatever was thrown because of it
    throw toModelCallError(error, call, options);
  }
}

/**
 * `name?setting=value&…`, without the settings that are undefined. Replies are cached under this id, and ids are written
 * to disk, so secrets are hidden in it.
 */
export function modelId(name: string, { temperature, sendSeed, structuredOutput }: CallSettings, more = {}): string {
  const seed = sendSeed ? 'sampleIndex' : undefined;
  const settings = { temperature, seed, ...more, ...(structuredOutput === 'auto' ? { structuredOutput } : {}) };
  const shown = Object.entries(hideSecrets(settings) as object).filter(([, value]) => value !== undefined);
  const suffix = shown.map(([key, value]) => `${key}=${typeof value === 'object' ? JSON.stringify(value) : value}`);
  return hashKeys(suffix.length === 0 ? name : `${name}?${suffix.join('&')}`);
}

function toCallOptions(
  { sendSeed, providerOptions, ...settings }: CallSettings,
  { messages, maxOutputTokens, temperature = settings.temperature, sampleIndex = 0, signal }: ChatRequest,
  schema: JSONSchema7 | undefined,
): LanguageModelV3CallOptions {
  const responseFormat = schema && ({ type: 'json', name: 'reply', schema } as const);
  const seed = sendSeed ? sampleIndex : undefined;
  const set = defined({ maxOutputTokens, temperature, responseFormat, seed, providerOptions, abortSignal: signal });
  return { prompt: messages.map(toPromptMessage), ...set };
}

const toPromptMessage = ({ role, content, images = [] }: ChatMessage): LanguageModelV3CallOptions['prompt'][number] => {
  if (role === 'system') return { role, content };
  const text = { type: 'text' as const, text: content };
  return role === 'user' ? { role, content: [text, ...images.map(toFilePart)] } : { role, content: [text] };
};

const toFilePart = ({ mediaType, base64, detail }: ChatImage): LanguageModelV3FilePart => ({
  type: 'file',
  mediaType,
  data: base64,
  ...(detail === undefined ? {} : { providerOptions: { openai: { imageDetail: detail } } }), // others have no such choice
});

type ResultV2 = Awaited<ReturnType<LanguageModelV2['doGenerate']>>;
type GenerateResult = LanguageModelV3GenerateResult | ResultV2;

/** The text, without keys of ours, and what it cost. A reply without text is a failure of the call. */
function toChatReply({ content, usage, finishReason }: GenerateResult, { who }: FailedCall): ChatReply {
  const text = maskKeys(content.map((part) => (part.type === 'text' ? part.text : '')).join(''));
  const reason = toFinishReason(typeof finishReason === 'string' ? finishReason : finishReason.unified);
  if (text.trim() === '') throw withoutText(reason, who);
  return { text, usage: toUsage(usage), finishReason: reason };
}

function toUsage(usage: GenerateResult['usage']): Usage {
  const { inputTokens, outputTokens } = usage;
  if (typeof inputTokens === 'object' && typeof outputTokens === 'object') {
    const { total: input = 0, cacheRead: cached = 0 } = inputTokens;
    const { total: output = 0, reasoning = 0 } = outputTokens;
    return { input, cached, output, reasoning };
  }
  const { inputTokens: input = 0, cachedInputTokens: cached = 0, ...rest } = usage as ResultV2['usage'];
  return { input, cached, output: rest.outputTokens ?? 0, reasoning: rest.reasoningTokens ?? 0 };
}

const toFinishReason = (reason: string): FinishReason =>
  reason === 'stop' || reason === 'length' || reason === 'content-filter' ? reason : 'other';

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

const SHAPE = ['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf'];

/** Not sent, because providers disagree on them. The reader of the reply checks them. */
const CHECKS = [
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'pattern', 'format', 'minItems', 'maxItems'],
];

const KEYWORDS = new Set([...SHAPE, ...CHECKS, 'description', 'title', 'default', '$schema']);

const KEPT_SCHEMAS = { maxEntries: 100 };

/**
 * The JSON Schema of what a model should write for `schema`, for providers that hold it to one: every property is
 * required, none is added, and names are in snake_case as in the prompts. Undefined where that cannot be expressed: open
 * objects, unions other than with null, properties that may be absent but not null.
 */
export const strictSchema = memoize((schema: z.ZodType): JSONSchema7 | undefined => {
  try {
    const root = toStrict(z.toJSONSchema(schema, { io: 'input' }) as JSONSchema7);
    return root.type === 'object' ? root : undefined;
  } catch {
    return undefined; // refused by `insist`, or by zod: a date, a function
  }
}, KEPT_SCHEMAS);

function toStrict(node: JSONSchema7): JSONSchema7 {
  insist(Object.keys(node).every((keyword) => KEYWORDS.has(keyword)));
  const { type, enum: values, const: value, description, anyOf } = node;
  insist(type !== undefined || anyOf !== undefined || values !== undefined || value !== undefined);
  const branches = anyOf && orNull(anyOf as JSONSchema7[]);
  return {
    ...defined({ type: type && singleType(type), description, enum: values, const: value, anyOf: branches }),
    ...(type === 'array' ? { items: toStrict(node.items as JSONSchema7) } : {}),
    ...(type === 'object' ? toClosedObject(node) : {}),
  };
}

/** One type, or one and null. */
function singleType(type: NonNullable<JSONSchema7['type']>): NonNullable<JSONSchema7['type']> {
  insist([type].flat().filter((name) => name !== 'null').length <= 1);
  return type;
}

function orNull(branches: readonly JSONSchema7[]): JSONSchema7[] {
  insist(branches.filter(({ type }) => type !== 'null').length === 1);
  return branches.map(toStrict);
}

function toClosedObject({ properties = {}, required = [], additionalProperties = false }: JSONSchema7): JSONSchema7 {
  insist(additionalProperties === false);
  const entries = Object.entries(properties).map(([key, property]) => {
    const strict = toStrict(property as JSONSchema7);
    insist(required.includes(key) || allowsNull(strict));
    return [wireName(key), strict] as const;
  });
  const names = entries.map(([name]) => name);
  return { properties: Object.fromEntries(entries), required: names, additionalProperties: false };
}

const allowsNull = ({ type = [], anyOf = [] }: JSONSchema7): boolean =>
  [type].flat().includes('null') || (anyOf as JSONSchema7[]).some(allowsNull);

/** A name that comes back in another spelling cannot be sent. */
function wireName(key: string): string {
  const [name = key] = Object.keys(toSnakeCase({ [key]: null }) as object);
  insist(Object.keys(toCamelCase({ [name]: null }) as object)[0] === key);
  return name;
}

function insist(isExpressible: boolean): void {
  if (!isExpressible) throw new Error('not expressible');
}
