import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ModelCallError, type Usage } from '../../core/contracts/index.ts';
import type { FailedCall } from '../ai-sdk/provider-words.ts';
import { toModelCallError } from '../ai-sdk/to-model-call-error.ts';
import type { Endpoint } from '../http/endpoint.ts';
import {
  askUpstream,
  connectionError,
  type GatewayRetry,
  type PlainHeaders,
  type Upstream,
  type UpstreamAnswer,
  type UpstreamReply,
  withoutHops,
} from './ask-upstream.ts';
import type { Fault, GatewayDialect } from './gateway-dialects.ts';
import { maskBytes, maskText, readWhole, streamReader } from './read-answer.ts';
import type { GenerationCall, OtherCall } from './read-call.ts';

export type Relay = {
  readonly upstream: Upstream;
  readonly endpoint: Endpoint;
  readonly idleMs: number;
  readonly retry: GatewayRetry;
  /** Aborted when the caller leaves, or the gateway closes. */
  readonly signal: AbortSignal;
  readonly response: ServerResponse;
};

type CallRelay = Relay & {
  readonly onUsage: (usage: Usage) => void;
  /** Notified when an answer begins. */
  readonly onAnswer: () => void;
  readonly onSilence: (error: ModelCallError) => void;
  readonly onFailure: (error: ModelCallError) => void;
};

/** Passes a generation on, and its answer back as it comes. */
export async function relayCall(call: GenerationCall, relay: CallRelay): Promise<void> {
  const { dialect } = call;
  const { response, signal, onUsage } = relay;
  const failed = failedCall(call, relay);
  const check = (text: string, { status }: UpstreamReply) => {
    const read = readWhole(text, { dialect, onUsage });
    if (read === undefined) return toModelCallError({ statusCode: status, responseBody: text }, failed, { prompt: [] });
    return read.fault && outage(read.fault, failed);
  };
  try {
    const asked = await askUpstream(call.request, { ...relay, call: failed }, check);
    relay.onAnswer();
    if (asked.kind === 'whole') sendWhole(asked, call.secrets, response);
    else await passStream(asked, call, relay);
  } catch (error) {
    if (signal.aborted) return void response.destroy();
    const failure = connectionError(error, { call: failed, idleMs: relay.idleMs });
    relay.onFailure(failure);
    // A client asks again after 429 and 500, and would take the end of a stream for the end of the answer.
    if (response.headersSent) response.destroy();
    else sendError(response, failureTold(failure), dialect);
  }
}

/** Some clients look for words such as "rate limit" or "overloaded" and ask again whatever the status: there are none. */
export function failureTold({ status = 400 }: ModelCallError): Fault {
  const isLasting = [401, 402, 403, 404].includes(status);
  return { status: isLasting ? status : 400, message: 'The provider of this run failed. No further call is made.' };
}

/** Throws unless the answer came to its end. */
async function passStream(
  asked: UpstreamAnswer & { kind: 'stream' },
  call: GenerationCall,
  relay: CallRelay,
): Promise<void> {
  const { response, signal, onUsage } = relay;
  const reader = streamReader({ dialect: call.dialect, onUsage });
  const mask = maskBytes(call.secrets);
  response.writeHead(asked.reply.status, maskHeaders(asked.reply.headers, call.secrets));
  response.flushHeaders();
  for await (const chunk of asked.chunks) {
    reader.add(chunk);
    const passed = mask.add(chunk);
    if (passed.length > 0 && !response.write(passed)) await once(response, 'drain', { signal });
  }
  const isWhole = reader.isWhole();
  const fault = reader.fault();
  const error = fault && outage(fault, failedCall(call, relay));
  if (error !== undefined) throw error;
  if (!isWhole && fault === undefined) throw brokenOff(failedCall(call, relay));
  response.end(mask.end());
}

/** What a fault in an answer says of the provider. Undefined if it is about the request. */
function outage({ status, message }: Fault, call: FailedCall): ModelCallError | undefined {
  const error = toModelCallError({ statusCode: status, responseBody: message }, call, { prompt: [] });
  return error.isFatal || (error.isRetryable && status !== 400 && status !== 422) ? error : undefined;
}

const brokenOff = ({ who }: FailedCall) => new ModelCallError(`${who} broke off its answer before the end`);

function failedCall({ model, secrets, request }: GenerationCall, { endpoint }: Relay): FailedCall {
  return { who: `${model ?? 'the model'} at ${endpoint.name}`, secrets, endpoint, path: request.path.split('?')[0] };
}

/** Passes on what is no generation. One try: what fails here says nothing of the agent's work. */
export async function relayOther(
  { request, secrets }: OtherCall,
  { upstream, signal, response }: Relay,
): Promise<void> {
  try {
    const reply = await upstream.send(request, signal);
    const mask = maskBytes(secrets);
    response.writeHead(reply.status, maskHeaders(reply.headers, secrets));
    for await (const chunk of reply.body) {
      if (!response.write(mask.add(chunk))) await once(response, 'drain', { signal });
    }
    response.end(mask.end());
  } catch {
    if (response.headersSent || signal.aborted) response.destroy();
    else sendError(response, { status: 502, message: 'The provider could not be reached.' }, undefined);
  }
}

function sendWhole(
  { reply, text }: UpstreamAnswer & { kind: 'whole' },
  secrets: readonly string[],
  response: ServerResponse,
) {
  const body = Buffer.from(maskText(text, secrets));
  response.writeHead(reply.status, { ...maskHeaders(reply.headers, secrets), 'content-length': body.length });
  response.end(body);
}

function maskHeaders(headers: PlainHeaders, secrets: readonly string[]): PlainHeaders {
  const masked = Object.entries(withoutHops(headers)).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map((one) => maskText(one, secrets)) : maskText(value, secrets),
  ]);
  return Object.fromEntries(masked);
}

/** In the dialect, so that a client can show it, and with a status after which it does not ask again. */
export function sendError(response: ServerResponse, { status, message }: Fault, dialect: GatewayDialect | undefined) {
  const body = dialect?.toError(status, message) ?? { error: { message } };
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify(body));
}
