import { setTimeout as sleep } from 'node:timers/promises';
import { ModelCallError, PromptTooLongError } from '../../core/contracts/index.ts';
import type { FailedCall } from '../ai-sdk/failed-call.ts';
import { toModelCallError } from '../ai-sdk/to-model-call-error.ts';
import type { Upstream, UpstreamReply, UpstreamRequest } from './open-upstream.ts';
import type { PlainHeaders } from './passed-headers.ts';

export type GatewayRetry = {
  readonly maxRetries?: number;
  readonly firstDelayMs?: number;
  /** Longest wait, also when the provider names a longer one. */
  readonly maxDelayMs?: number;
};

export type Asking = {
  readonly upstream: Upstream;
  readonly call: FailedCall;
  readonly idleMs: number;
  readonly retry: GatewayRetry;
  /** Ends tries and waits with its reason. */
  readonly signal: AbortSignal;
  /** Notified when nothing came for as long as is waited, and before it is asked again. */
  readonly onSilence?: (error: ModelCallError) => void;
};

/** An answer that began well: the chunks of a stream, or a text that is all there. Or a refusal that is the caller's own matter. */
export type Asked =
  | { readonly kind: 'stream'; readonly reply: UpstreamReply; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: 'whole'; readonly reply: UpstreamReply; readonly text: string };

/** A whole answer, looked at before it is passed on: what is wrong with it, if anything is. */
export type CheckWhole = (text: string, reply: UpstreamReply) => ModelCallError | undefined;

/**
 * Asks until an answer begins, or there is no use in it. Throws `ModelCallError` when the provider could not be reached, has
 * no time, or refuses every call: whatever an agent would make of that is no work of its own.
 */
export async function askUpstream(request: UpstreamRequest, asking: Asking, check: CheckWhole): Promise<Asked> {
  const { maxRetries = 3, firstDelayMs = 500, maxDelayMs = 20_000 } = asking.retry;
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryOnce(request, asking, check);
    if (!(outcome instanceof ModelCallError)) return outcome;
    if (outcome instanceof NoAnswerError) asking.onSilence?.(outcome);
    const most = outcome instanceof NoAnswerError ? Math.min(1, maxRetries) : maxRetries;
    if (!outcome.isRetryable || attempt > most) throw outcome;
    const ownMs = Math.random() * firstDelayMs * 2 ** (attempt - 1);
    await sleep(Math.min(outcome.retryAfterMs ?? ownMs, maxDelayMs), undefined, { signal: asking.signal });
  }
}

async function tryOnce(request: UpstreamRequest, asking: Asking, check: CheckWhole): Promise<Asked | ModelCallError> {
  try {
    const reply = await asking.upstream.send(request, asking.signal);
    if (reply.status < 300 && isEventStream(reply.headers)) return await beginStream(reply);
    const text = await readText(reply);
    const error = reply.status < 300 ? check(text, reply) : refusalOf(reply, text, asking.call);
    return error ?? { kind: 'whole', reply, text };
  } catch (error) {
    asking.signal.throwIfAborted();
    return connectionError(error, asking);
  }
}

/** Waits for the first chunk: until then, another try is possible. */
async function beginStream(reply: UpstreamReply): Promise<Asked> {
  const iterator = reply.body[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* chunks() {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value as Uint8Array;
  }
  return { kind: 'stream', reply, chunks: chunks() };
}

const isEventStream = (headers: PlainHeaders) => String(headers['content-type']).includes('text/event-stream');

/** More than any answer in one piece: a megabyte is a book. */
const MAX_WHOLE_BYTES = 64_000_000;

async function readText({ body }: UpstreamReply): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_WHOLE_BYTES) throw new Error(`more than ${MAX_WHOLE_BYTES / 1_000_000} MB in one answer`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const nothingSent = { prompt: [] };

/** What a refusal says of the provider. Undefined if it is about this request: a client knows what to do then. */
function refusalOf({ status, headers }: UpstreamReply, text: string, call: FailedCall): ModelCallError | undefined {
  const thrown = { statusCode: status, responseHeaders: oneValueEach(headers), responseBody: text };
  const error = toModelCallError(thrown, call, nothingSent);
  if (status < 400 || error.isFatal) return error;
  const isOwnMatter = error instanceof PromptTooLongError || status === 400 || status === 422 || !error.isRetryable;
  return isOwnMatter ? undefined : error;
}

function oneValueEach(headers: PlainHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** A provider that sends nothing, neither an answer nor a refusal. */
class NoAnswerError extends ModelCallError {}

const IDLE = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** The error for a connection that failed, before an answer or in the midst of it. */
export function connectionError(error: unknown, { call, idleMs }: Pick<Asking, 'call' | 'idleMs'>): ModelCallError {
  if (error instanceof ModelCallError) return error;
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  if (IDLE.includes(code)) return new NoAnswerError(`${call.who} sent nothing for ${idleMs / 1000} s`);
  return toModelCallError({ code: code || 'ECONNRESET', message, cause: (error as Error).cause }, call, nothingSent);
}
