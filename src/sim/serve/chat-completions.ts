import { z } from 'zod';
import type { ChatMessage, ChatReply, ChatRequest, FinishReason, ModelCallError } from '../../core/contracts/index.ts';

/** The wire format of OpenAI's Chat Completions, as far as a simulated model needs it. Unknown fields are ignored. */

const textPart = z.object({ type: z.literal('text'), text: z.string() });

const Message = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant']),
  content: z.union([z.string(), z.array(textPart), z.null()]),
});

const maxTokens = z.number().int().positive().nullish();

export const CompletionRequest = z.object({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.literal(false, 'must be false: this server does not stream').nullish(),
  n: z.literal(1, 'must be 1: ask again with another seed').nullish(),
  seed: z.number().int().nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  max_tokens: maxTokens,
  max_completion_tokens: maxTokens,
});
export type CompletionRequest = z.infer<typeof CompletionRequest>;

/** The request behind a body. `seed` is the sample index, the only thing on the wire that asks for another draw. */
export function toChatRequest(body: CompletionRequest, signal: AbortSignal): ChatRequest {
  const maxOutputTokens = body.max_completion_tokens ?? body.max_tokens;
  return {
    messages: body.messages.map(toChatMessage),
    signal,
    ...(typeof body.seed === 'number' ? { sampleIndex: body.seed } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(typeof maxOutputTokens === 'number' ? { maxOutputTokens } : {}),
  };
}

function toChatMessage({ role, content }: z.infer<typeof Message>): ChatMessage {
  const text = Array.isArray(content) ? content.map((part) => part.text).join('') : (content ?? '');
  return { role: role === 'developer' ? 'system' : role, content: text };
}

/** Without a clock or a counter in it: the same request is answered with the same bytes. */
export function toCompletion(model: string, { text, usage, finishReason }: ChatReply): object {
  return {
    id: 'chatcmpl-simulated',
    object: 'chat.completion',
    created: 0,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: finishReasons[finishReason] }],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cached },
      completion_tokens_details: { reasoning_tokens: usage.reasoning },
    },
  };
}

const finishReasons: Record<FinishReason, string> = {
  stop: 'stop',
  length: 'length',
  'content-filter': 'content_filter',
  other: 'stop',
};

export function toModelList(models: readonly string[]): object {
  return { object: 'list', data: models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'skillopt' })) };
}

/** An answer of the server: a status, a JSON body, and headers beside the usual ones. */
export type Answer = { readonly status: number; readonly body: object; readonly headers?: Record<string, string> };

type Complaint = { readonly status: number; readonly message: string; readonly param?: string; readonly code?: string };

export function toComplaint({ status, message, param, code }: Complaint): Answer {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return { status, body: { error: { message, type, param: param ?? null, code: code ?? null } } };
}

/** What a provider answers for a call that a model refused. */
export function toRefusal({ status = 500, message, retryAfterMs }: ModelCallError): Answer {
  const headers: Record<string, string> =
    retryAfterMs === undefined
      ? {}
      : { 'retry-after-ms': String(retryAfterMs), 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
  const type = status === 429 ? 'rate_limit_error' : 'server_error';
  return { status, body: { error: { message, type, param: null, code: null } }, headers };
}
