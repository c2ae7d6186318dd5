import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { ModelCallError, type RateLimiter, type Usage } from '../../core/contracts/index.ts';
import { keySpellings, maskKeys, maskKeysIn } from '../../core/guard/index.ts';
import { parseJson } from '../../core/text/index.ts';
import type { FailedCall } from '../ai-sdk/provider-words.ts';
import { toModelCallError } from '../ai-sdk/to-model-call-error.ts';
import type { Endpoint } from '../endpoint.ts';
import {
  askUpstream,
  connectionError,
  type GatewayRetry,
  type PlainHeaders,
  type Upstream,
  type UpstreamAnswer,
  withoutHops,
} from './ask-upstream.ts';
import { type Fault, faultOf, type GatewayDialect, type Json } from './gateway-dialects.ts';
import type { Call } from './read-call.ts';

export type Relay = {
  readonly upstream: Upstream;
  readonly endpoint: Endpoint;
  readonly idleMs: number;
  readonly retry: GatewayRetry;
  readonly limiter: RateLimiter;
  /** Aborted when the caller leaves, or the gateway closes. */
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
};

/** A call whose body was read: all that is needed until its answer has passed. */
export type GenerationCall = Call & { readonly dialect: GatewayDialect; readonly model: string | undefined };

type CallRelay = Relay & {
  readonly onUsage: (usage: Usage) => void;
  /** Notified when an answer begins. */
  readonly onAnswer: () => void;
  readonly onSend: () => void;
  readonly onTrouble: (error: ModelCallError) => void;
  readonly onFailure: (error: ModelCallError) => void;
};

/** Passes a generation on, and its answer back as it comes. */
export async function relayCall(call: GenerationCall, relay: CallRelay): Promise<void> {
  const { dialect, model, request } = call;
  const { response, signal, endpoint, idleMs, onUsage } = relay;
  const [path] = request.path.split('?');
  const failed = { who: `${model ?? 'the model'} at ${endpoint.name}`, endpoint, path };
  const check = (text: string, status: number) => {
    const read = readWhole(text, { dialect, onUsage });
    if (read === undefined) return toModelCallError({ statusCode: status, responseBody: text }, failed, { prompt: [] });
    return read.fault && outage(read.fault, failed);
  };
  try {
    const answer = await askUpstream(request, { ...relay, call: failed }, check);
    relay.onAnswer();
    if (answer.kind === 'whole') sendWhole(answer, response);
    else await passStream(answer, call, { ...relay, failed });
  } catch (error) {
    if (signal.aborted) return void response.destroy();
    const failure = connectionError(error, { call: failed, idleMs });
    relay.onFailure(failure);
    // A client asks again after 429 and 500, and would take the end of a stream for the end of the answer.
    if (response.headersSent) response.destroy();
    else sendError(response, failureFault(failure), dialect);
  }
}

/** Some clients ask again after words such as "rate limit" or "overloaded", whatever the status, so it has none of them. */
export function failureFault({ status = 400 }: ModelCallError): Fault {
  const isLasting = [401, 402, 403, 404].includes(status);
  return { status: isLasting ? status : 400, message: 'The provider of this run failed. No further call is made.' };
}

/** Throws unless the answer came to its end. */
async function passStream(
  { reply, chunks }: UpstreamAnswer & { kind: 'stream' },
  { dialect }: GenerationCall,
  { response, signal, onUsage, failed }: CallRelay & { readonly failed: FailedCall },
): Promise<void> {
  const reader = streamReader({ dialect, onUsage });
  response.writeHead(reply.status, maskHeaders(reply.headers));
  response.flushHeaders();
  const rest = await passBytes(chunks, { response, signal, onChunk: reader.add });
  const { isWhole, fault } = reader.end();
  const error = fault && outage(fault, failed);
  if (error !== undefined) throw error;
  if (!isWhole && fault === undefined) throw new ModelCallError(`${failed.who} broke off its answer before the end`);
  response.end(rest);
}

type Passing = Pick<Relay, 'response' | 'signal'> & { readonly onChunk?: (chunk: Uint8Array) => void };

/** Writes the masked chunks as they come, and returns what is still to be written. */
async function passBytes(chunks: AsyncIterable<Uint8Array>, { response, signal, onChunk }: Passing) {
  const mask = maskBytes();
  for await (const chunk of chunks) {
    onChunk?.(chunk);
    const passed = mask.add(chunk);
    if (passed.length > 0 && !response.write(passed)) await once(response, 'drain', { signal });
  }
  return mask.end();
}

/** What a fault in an answer says about the provider. Undefined if it is about the request. */
function outage({ status, message }: Fault, call: FailedCall): ModelCallError | undefined {
  const error = toModelCallError({ statusCode: status, responseBody: message }, call, { prompt: [] });
  return error.isFatal || (error.isRetryable && status !== 400 && status !== 422) ? error : undefined;
}

/** Passes on a call that is no generation. It is tried once: its failure says nothing about the agent's work. */
export async function relayOther({ request }: Call, { upstream, signal, response }: Relay) {
  try {
    const reply = await upstream.send(request, signal);
    response.writeHead(reply.status, maskHeaders(reply.headers));
    response.end(await passBytes(reply.body, { response, signal }));
  } catch {
    if (response.headersSent || signal.aborted) response.destroy();
    else sendError(response, { status: 502, message: 'The provider could not be reached.' }, undefined);
  }
}

function sendWhole({ reply, text }: UpstreamAnswer & { kind: 'whole' }, response: ServerResponse): void {
  const body = Buffer.from(maskKeys(text));
  response.writeHead(reply.status, { ...maskHeaders(reply.headers), 'content-length': body.length });
  response.end(body);
}

const maskHeaders = (headers: PlainHeaders): PlainHeaders => maskKeysIn(withoutHops(headers));

/** In the dialect, so that a client can show it, and with a status after which it does not ask again. */
export function sendError(response: ServerResponse, { status, message }: Fault, dialect: GatewayDialect | undefined) {
  const body = dialect?.toError(status, message) ?? { error: { message } };
  response.req.resume(); // of a body that was not read, so that the caller gets the refusal
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify(body));
}

type AnswerReader = { readonly dialect: GatewayDialect; readonly onUsage: (usage: Usage) => void };

/** Reads server-sent events as they pass, for their tokens, their faults and their end. */
function streamReader({ dialect, onUsage }: AnswerReader) {
  const decoder = new StringDecoder('utf8');
  let [rest, data, tokens]: [string, string[], object] = ['', [], {}];
  let [isWhole, fault]: [boolean, Fault | undefined] = [false, undefined];
  function readEvent(text: string): void {
    if (text === '[DONE]') isWhole = true;
    const event = parseJson(text) as Json;
    if (typeof event !== 'object' || event === null) return;
    fault ??= faultOf(dialect.faultIn(event));
    isWhole ||= dialect.isLast(event);
    tokens = mergeTokens(tokens, dialect.usageIn(event));
    if (dialect.usageIn(event)) onUsage(dialect.toUsage(tokens));
  }
  function readLine(line: string): void {
    if (line.startsWith('data:')) data.push(line.slice(5).trimStart());
    else if (line === '' && data.length > 0) readEvent(data.splice(0).join('\n'));
  }
  return {
    add(chunk: Uint8Array) {
      const lines = `${rest}${decoder.write(Buffer.from(chunk))}`.split(/\r?\n/);
      rest = lines.pop()!;
      for (const line of lines) readLine(line);
    },
    /** Whether the provider has sent all of its answer, and what went wrong. */
    end() {
      for (const line of [rest, '']) readLine(line); // a last event may come without an empty line after it
      return { isWhole, fault };
    },
  };
}

/** An answer in one piece; undefined if it is none. Gemini may send a list where a stream was asked for. */
function readWhole(text: string, { dialect, onUsage }: AnswerReader): { fault: Fault | undefined } | undefined {
  const parsed = parseJson(text);
  const events: Json[] = Array.isArray(parsed) ? parsed : [parsed];
  if (events.length === 0 || events.some((event) => typeof event !== 'object' || event === null)) return undefined;
  const tokens = events.map((event) => dialect.usageIn(event)).reduce<object>(mergeTokens, {});
  if (Object.keys(tokens).length > 0) onUsage(dialect.toUsage(tokens));
  return { fault: events.map((event) => faultOf(dialect.faultIn(event))).find((fault) => fault !== undefined) };
}

function mergeTokens(tokens: object, more: object | undefined | null): object {
  const known = Object.entries(more ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...tokens, ...Object.fromEntries(known) };
}

/** Masks our keys in bytes as they pass, also where one is torn over two chunks. */
function maskBytes() {
  // As latin1, in which a byte is a character, so that no chunk ends in the middle of one.
  const known = keySpellings().map((spelling) => Buffer.from(spelling).toString('latin1'));
  let waiting = '';
  return {
    /** What may pass now. The beginning of a key waits for the next chunk. */
    add(chunk: Uint8Array): Buffer {
      const come = waiting + Buffer.from(chunk).toString('latin1');
      const text = known.reduce((masked, key) => masked.replaceAll(key, '[secret]'), come);
      const held = Math.max(0, ...known.map((key) => heldBack(text, key)));
      waiting = text.slice(text.length - held);
      return Buffer.from(text.slice(0, text.length - held), 'latin1');
    },
    end: () => Buffer.from(waiting, 'latin1'),
  };
}

/** How many characters at the end of `text` are the beginning of `key`. */
function heldBack(text: string, key: string): number {
  const most = Math.min(key.length - 1, text.length);
  for (let length = most; length > 0; length--) if (text.endsWith(key.slice(0, length))) return length;
  return 0;
}
