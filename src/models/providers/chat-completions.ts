import type {
  JSONObject,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FilePart,
  LanguageModelV3FinishReason,
} from '@ai-sdk/provider';
import { z } from 'zod';
import { type Endpoint, endpointFetch, type TokenLimitName } from '../endpoint.ts';

export type ChatCompletionsOptions = {
  readonly model: string;
  /** What the endpoint calls the limit of a reply. */
  readonly maxTokensParameter?: TokenLimitName | undefined;
  /** Further fields that every request sends. */
  readonly extraBody?: JSONObject | undefined;
};

/**
 * Chat Completions with texts and images. The SDK's own client for it takes longer over a call than everything else that we do about
 * one, because it can do much that is never asked for here: tools, streams, options of single providers.
 */
export function chatCompletions(
  endpoint: Endpoint,
  options: ChatCompletionsOptions,
): Pick<LanguageModelV3, 'doGenerate'> {
  const url = `${endpoint.baseURL}/chat/completions`;
  const headers = { 'user-agent': 'skillopt', ...endpoint.headers, 'content-type': 'application/json' };
  const fetch = endpointFetch(endpoint);
  return {
    async doGenerate(call) {
      const body = JSON.stringify(toBody(call, options));
      const response = await fetch(url, { method: 'POST', headers, body, signal: call.abortSignal ?? null });
      const { status, statusText } = response;
      const reply = { status, statusText, headers: Object.fromEntries(response.headers), body: await response.text() };
      return toResult(readCompletion(reply), reply.headers);
    },
  };
}

function toBody(
  { prompt, maxOutputTokens, temperature, responseFormat, seed }: LanguageModelV3CallOptions,
  { model, maxTokensParameter = 'max_tokens', extraBody }: ChatCompletionsOptions,
) {
  return {
    model,
    [maxTokensParameter]: maxOutputTokens,
    temperature,
    response_format: responseFormat && toResponseFormat(responseFormat),
    seed,
    messages: prompt.map(({ role, content }) => ({ role, content: contentOf(content) })),
    ...extraBody,
  };
}

type ResponseFormat = NonNullable<LanguageModelV3CallOptions['responseFormat']>;

const toResponseFormat = (format: ResponseFormat) =>
  format.type === 'json'
    ? { type: 'json_schema', json_schema: { schema: format.schema, strict: true, name: format.name } }
    : undefined;

/** A text alone stays a text: not every server takes parts. */
function contentOf(content: string | readonly Part[]) {
  const images = typeof content === 'string' ? [] : content.filter(isImage);
  const text = textOf(content);
  return images.length === 0 ? text : [{ type: 'text', text }, ...images.map(toImageUrl)];
}

const isImage = (part: Part): part is LanguageModelV3FilePart => part.type === 'file';

const toImageUrl = ({ mediaType, data, providerOptions }: LanguageModelV3FilePart) => {
  const detail = providerOptions?.openai?.imageDetail;
  return { type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}`, ...(detail ? { detail } : {}) } };
};

type Part = { readonly type: string; readonly text?: unknown };

/** Thoughts that come back among the texts are no part of the answer. */
const textOf = (content: string | readonly Part[]): string =>
  typeof content === 'string' ? content : content.map(({ type, text }) => (TEXT.has(type) ? text : '')).join('');

/** The second is the name in Responses, and some servers use it here too. */
const TEXT = new Set(['text', 'output_text']);

type Reply = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Record<string, string>;
  readonly body: string;
};

/** An answer that holds no completion, in the form in which the SDK's clients report it. */
class NoCompletion extends Error {
  readonly statusCode: number;
  readonly responseHeaders: Record<string, string>;
  readonly responseBody: string;

  constructor({ status, statusText, headers, body }: Reply) {
    super(statusText);
    [this.statusCode, this.responseHeaders, this.responseBody] = [status, headers, body];
  }
}

function readCompletion(reply: Reply): Completion {
  if (reply.status < 200 || reply.status >= 300) throw new NoCompletion(reply);
  const completion = completionSchema.safeParse(parseOrNothing(reply.body));
  if (!completion.success) throw new NoCompletion(reply);
  return completion.data;
}

function parseOrNothing(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

const count = z.number().nullish();
const contentSchema = z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]).nullish();
const choiceSchema = z.object({ message: z.object({ content: contentSchema }), finish_reason: z.string().nullish() });

const completionSchema = z.object({
  choices: z.tuple([choiceSchema], z.unknown()),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
    })
    .nullish(),
});
type Completion = z.infer<typeof completionSchema>;

function toResult({ choices: [{ message, finish_reason }], usage }: Completion, headers: Record<string, string>) {
  return {
    content: [{ type: 'text' as const, text: textOf(message.content ?? '') }],
    finishReason: { unified: toUnified(finish_reason), raw: finish_reason ?? undefined },
    usage: {
      inputTokens: {
        total: usage?.prompt_tokens ?? undefined,
        cacheRead: usage?.prompt_tokens_details?.cached_tokens ?? undefined,
        ...{ noCache: undefined, cacheWrite: undefined },
      },
      outputTokens: {
        total: usage?.completion_tokens ?? undefined,
        reasoning: usage?.completion_tokens_details?.reasoning_tokens ?? undefined,
        text: undefined,
      },
    },
    response: { headers },
    warnings: [],
  };
}

function toUnified(reason: string | null | undefined): LanguageModelV3FinishReason['unified'] {
  if (reason === 'stop' || reason === 'length') return reason;
  return reason === 'content_filter' ? 'content-filter' : 'other';
}
