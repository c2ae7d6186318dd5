import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ModelCallError, PromptTooLongError, type RateLimiter } from '../../core/contracts/index.ts';
import { defined } from '../../core/text/index.ts';
import type { FailedCall } from '../ai-sdk/provider-words.ts';
import { toModelCallError } from '../ai-sdk/to-model-call-error.ts';
import { type Endpoint, STALE } from '../endpoint.ts';
import { steadyRefusal } from '../rate-limit/rate-limiter.ts';
import { isRefusal } from '../wrappers/with-rate-limit.ts';
import type { HeldBody } from './body-room.ts';

export type GatewayRetry = {
  /** Further tries of a call that failed for the moment. Refusals for too many calls (429) wait in the line of the limiter. */
  readonly maxRetries?: number;
  readonly firstDelayMs?: number;
  /** Longest wait, also when the provider names a longer one. */
  readonly maxDelayMs?: number;
};

type UpstreamQuestion = {
  readonly upstream: Upstream;
  readonly call: FailedCall;
  readonly idleMs: number;
  readonly retry: GatewayRetry;
  /** The line in which all calls to the provider wait. */
  readonly limiter: RateLimiter;
  /** Ends tries and waits with its reason. */
  readonly signal: AbortSignal;
  /** Notified before each try. If it throws, the call fails with that error. */
  readonly onSend: () => void;
  /** Notified when the caller has to wait for the provider: in line, or after a try that failed. */
  readonly onTrouble: (error: ModelCallError) => void;
};

/** The chunks of a stream that began well, or a whole text: an answer, or a refusal that is about the request. */
export type UpstreamAnswer =
  | { readonly kind: 'stream'; readonly reply: UpstreamReply; readonly chunks: AsyncIterable<Uint8Array> }
  | { readonly kind: 'whole'; readonly reply: UpstreamReply; readonly text: string };

/** What is wrong with a whole answer, if anything is. */
type CheckWhole = (text: string, status: number) => ModelCallError | undefined;

export const GATEWAY_RETRIES = 4;

/**
 * Asks until an answer begins, or another try is useless. Throws `ModelCallError` when the provider could not be reached,
 * has no time, or refuses every call: an agent's reaction to that would not be its own work. This is the only place that
 * asks an agent's provider again, so that the error is not retryable: a whole attempt would cost all its turns again.
 */
export async function askUpstream(
  request: UpstreamRequest,
  asking: UpstreamQuestion,
  check: CheckWhole,
): Promise<UpstreamAnswer> {
  const { maxRetries = GATEWAY_RETRIES, firstDelayMs = 500, maxDelayMs = 20_000 } = asking.retry;
  let last: ModelCallError | undefined;
  for (let failures = 0; ; ) {
    const outcome = await tryInLine(request, asking, check, last);
    if (!(outcome instanceof ModelCallError)) return outcome;
    asking.onTrouble(outcome);
    last = outcome;
    if (isRefusal(outcome)) continue;
    failures += 1;
    const most = outcome instanceof NoAnswerError ? Math.min(1, maxRetries) : maxRetries;
    if (!outcome.isRetryable) throw outcome;
    if (failures > most) throw notAgain(outcome);
    const ownMs = Math.random() * firstDelayMs * 2 ** (failures - 1);
    await sleep(Math.min(outcome.retryAfterMs ?? ownMs, maxDelayMs), undefined, { signal: asking.signal });
  }
}

function notAgain(error: ModelCallError): ModelCallError {
  const { message, status, isFatal, usage, hint } = error;
  return new ModelCallError(message, {
    status,
    isFatal,
    usage,
    isRetryable: false,
    cause: error,
    ...defined({ hint }),
  });
}

/** One try, when it is its turn. A refusal after which no other try makes sense is returned as an outage. */
async function tryInLine(
  request: UpstreamRequest,
  asking: UpstreamQuestion,
  check: CheckWhole,
  last: ModelCallError | undefined,
): Promise<UpstreamAnswer | ModelCallError> {
  const { limiter, signal, call } = asking;
  const turn = limiter.acquire({ signals: [signal], isAgain: last !== undefined });
  if (limiter.state().waiting > 0)
    asking.onTrouble(last ?? new ModelCallError(`${call.who} takes no further calls yet`));
  const slot = await turn;
  try {
    const outage = last && steadyRefusal(limiter, last);
    if (outage) slot.refuse();
    if (outage) return outage;
    asking.onSend();
    const outcome = await tryOnce(request, asking, check);
    if (!(outcome instanceof ModelCallError)) slot.succeed();
    if (!isRefusal(outcome)) return outcome;
    slot.refuse(outcome.retryAfterMs);
    return steadyRefusal(limiter, outcome) ?? outcome;
  } finally {
    slot.release(); // has no effect after an answer or a refusal
  }
}

async function tryOnce(
  request: UpstreamRequest,
  asking: UpstreamQuestion,
  check: CheckWhole,
): Promise<UpstreamAnswer | ModelCallError> {
  try {
    const reply = await asking.upstream.send(request, asking.signal);
    if (reply.status < 300 && isEventStream(reply.headers)) return await beginStream(reply);
    const text = await readText(reply);
    const error = reply.status < 300 ? check(text, reply.status) : refusalOf(reply, text, asking.call);
    return error ?? { kind: 'whole', reply, text };
  } catch (error) {
    asking.signal.throwIfAborted();
    return connectionError(error, asking);
  }
}

/** Waits for the first chunk: until then, another try is possible. */
async function beginStream(reply: UpstreamReply): Promise<UpstreamAnswer> {
  const iterator = reply.body[Symbol.asyncIterator]();
  const first = await iterator.next();
  async function* chunks() {
    for (let next = first; !next.done; next = await iterator.next()) yield next.value as Uint8Array;
  }
  return { kind: 'stream', reply, chunks: chunks() };
}

const isEventStream = (headers: PlainHeaders) => String(headers['content-type']).includes('text/event-stream');

/** More than any answer in one piece. */
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

/** What a refusal says about the provider. Undefined if it is about this request: the client knows what to do then. */
function refusalOf({ status, headers }: UpstreamReply, text: string, call: FailedCall): ModelCallError | undefined {
  const responseHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const error = toModelCallError({ statusCode: status, responseHeaders, responseBody: text }, call, nothingSent);
  if (status < 400 || error.isFatal) return error;
  const isAboutRequest = error instanceof PromptTooLongError || status === 400 || status === 422 || !error.isRetryable;
  return isAboutRequest ? undefined : error;
}

/** The provider sent neither an answer nor a refusal. */
class NoAnswerError extends ModelCallError {}

const IDLE = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

/** The error for a connection that failed, before an answer or in the middle of one. */
export function connectionError(
  error: unknown,
  { call, idleMs }: Pick<UpstreamQuestion, 'call' | 'idleMs'>,
): ModelCallError {
  if (error instanceof ModelCallError) return error;
  const { code = '', message = String(error) } = error as NodeJS.ErrnoException;
  if (IDLE.includes(code)) return new NoAnswerError(`${call.who} sent nothing for ${idleMs / 1000} s`);
  return toModelCallError({ code: code || 'ECONNRESET', message, cause: (error as Error).cause }, call, nothingSent);
}

export type UpstreamRequest = {
  readonly method: string;
  /** With its query, to be added to the base URL. */
  readonly path: string;
  readonly headers: PlainHeaders;
  readonly body?: HeldBody | undefined;
};

type UpstreamReply = { readonly status: number; readonly headers: PlainHeaders; readonly body: Readable };

export interface Upstream extends AsyncDisposable {
  /** Returns when the head of the answer is there. Fails when nothing comes for `idleMs`, also later in the body. */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamReply>;
}

/** Opens its own connections, through a proxy if the environment names one. Redirects are not followed: a key stays with its host. */
export async function openUpstream({ baseURL, queryParams, proxy }: Endpoint, idleMs: number): Promise<Upstream> {
  const { Agent, ProxyAgent, request: send } = await import('undici');
  const open = (more: object) => {
    const options = { headersTimeout: idleMs, bodyTimeout: idleMs, ...more };
    return proxy === undefined ? new Agent(options) : new ProxyAgent({ ...options, uri: proxy, proxyTunnel: false });
  };
  const [keptOpen, opensNew] = [open({}), open({ pipelining: 0 })];
  let connections = 0;
  keptOpen.on('connect', () => {
    connections += 1;
  });
  return {
    async send({ method, path, headers, body }, signal) {
      const url = new URL(`${baseURL}${path}`);
      for (const [name, value] of Object.entries(queryParams)) url.searchParams.set(name, value);
      const length = body === undefined ? {} : { 'content-length': String(body.length) };
      const options = () => ({
        method: method as 'POST',
        headers: { ...headers, ...length },
        body: body?.content() ?? null,
        signal,
      });
      const before = connections;
      const reply = await send(url, { ...options(), dispatcher: keptOpen }).catch((error) => {
        // The provider closed the idle connection just then: that is no answer to this call, so that it is no further try of it.
        if (connections > before || signal.aborted || !STALE.includes(error.code)) throw error;
        return send(url, { ...options(), dispatcher: opensNew });
      });
      return { status: reply.statusCode, ...unpacked(reply.body, reply.headers as PlainHeaders) };
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all([keptOpen.destroy(), opensNew.destroy()])),
  };
}

const UNPACKERS = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate } as const;

/** Some servers compress although they were asked not to. */
function unpacked(body: Readable, headers: PlainHeaders): { body: Readable; headers: PlainHeaders } {
  const { 'content-encoding': encoding, ...rest } = headers;
  const unpack = UNPACKERS[String(encoding) as keyof typeof UNPACKERS];
  if (unpack === undefined) return { body, headers };
  const plain = unpack();
  body.on('error', (error) => plain.destroy(error));
  plain.on('close', () => body.destroy());
  return { body: body.pipe(plain), headers: rest };
}

/** Headers that belong to one connection, or are computed again for the next. */
const HOP_BY_HOP = [
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade', 'http2-settings', 'host', 'expect', 'content-length', 'accept-encoding'],
];

/** Headers with which clients sign in. */
const SIGN_IN = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key'];

export type PlainHeaders = Record<string, string | string[]>;

export function withoutHops(headers: IncomingHttpHeaders | PlainHeaders): PlainHeaders {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());
  const kept = Object.entries(headers).filter(
    (entry): entry is [string, string | string[]] =>
      entry[1] !== undefined && !HOP_BY_HOP.includes(entry[0]) && !named.includes(entry[0]),
  );
  return Object.fromEntries(kept);
}

/** Headers that ask a server for another method than that of the request, which is the one that we have looked at. */
const OTHER_METHOD = ['x-http-method-override', 'x-http-method', 'x-method-override'];

/** The caller's headers. If there are `own` ones, they replace the caller's sign-in. Answers must not be compressed. */
export function requestHeaders(headers: IncomingHttpHeaders, own: Readonly<Record<string, string>>): PlainHeaders {
  const added = Object.entries(own).map(([name, value]) => [name.toLowerCase(), value]);
  const left = [...SIGN_IN, ...OTHER_METHOD];
  const passed = Object.entries(withoutHops(headers)).filter(([name]) => added.length === 0 || !left.includes(name));
  return Object.fromEntries([...passed, ['accept-encoding', 'identity'], ...added]);
}

/** The keys of a caller that signs in itself. */
export const signInOf = (headers: IncomingHttpHeaders): string[] => SIGN_IN.flatMap((name) => headers[name] ?? []);
