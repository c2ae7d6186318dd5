import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  type AgentSpending,
  ModelCallError,
  noUsage,
  type OfferedSkill,
  type RateLimiter,
  type Usage,
} from '../../core/contracts/index.ts';
import type { Price } from '../budget/prices.ts';
import { parseEndpoint } from '../endpoint.ts';
import { linkedSignal } from '../on-abort.ts';
import { createRateLimiter, patienceFor } from '../rate-limit/rate-limiter.ts';
import { Admission, type AdmissionOptions, type CallSpending, type GatewayLimits, Spending } from './admission.ts';
import { GATEWAY_RETRIES, type GatewayRetry, openUpstream } from './ask-upstream.ts';
import { BodyRoom } from './body-room.ts';
import type { Fault } from './gateway-dialects.ts';
import { type Asked, type Call, readAsked, readCall } from './read-call.ts';
import { type GenerationCall, type Relay, relayCall, relayOther, sendError } from './relay-call.ts';

export type ModelGatewayOptions = AdmissionOptions & {
  readonly upstream: {
    /** Such as https://api.anthropic.com, if agents ask for /v1/messages. */
    readonly baseURL: string;
    /** Replaces the caller's sign-in. Without it, the caller's passes. */
    readonly auth?: { readonly header: string; readonly value: string } | undefined;
  };
  readonly listen: { readonly socket: string } | { readonly port: number };
  readonly limits?: GatewayLimits | undefined;
  /** The price of every model. Default: the listed price of each. */
  readonly price?: Price | undefined;
  /** Ends all calls. */
  readonly signal?: AbortSignal | undefined;
  /** How long the provider may send nothing. */
  readonly callTimeoutMs?: number | undefined;
  readonly retry?: GatewayRetry | undefined;
  /** The line in which calls wait, if other gateways ask under the same key. */
  readonly limiter?: RateLimiter | undefined;
  /** Notified before each call passes and before each further try of it, and when it is over. If it throws, the call fails with that error. */
  readonly onSpend?: ((spending: AgentSpending) => void) | undefined;
};

export interface ModelGateway extends AsyncDisposable {
  /** The root on loopback, with a random word that other processes do not know. Undefined on a socket, whose root is `/`. */
  readonly url: string | undefined;
  usage(): Usage;
  /** Generations that were let pass. */
  calls(): number;
  /** Requests for them that were sent to the provider: further tries count too. */
  sent(): number;
  /** Undefined when a call has no price. */
  costUsd(): number | undefined;
  ended(): 'turns' | 'budget' | undefined;
  /** Why the provider could not be asked any more. */
  failure(): ModelCallError | undefined;
  /** Why an agent waits: the provider has not answered once, or sent nothing for `callTimeoutMs`. */
  silence(): ModelCallError | undefined;
  /** Which skills the first request with tools named, and the names of those tools. */
  offered(): readonly OfferedSkill[];
  tools(): readonly string[];
  /** The names of the models that were asked for. */
  models(): readonly string[];
  /** How often other models were asked for than those that are allowed, by name. */
  refused(): Readonly<Record<string, number>>;
}

/** An agent may start others, which ask at the same time. */
const MOST_CONNECTIONS = 64;
/** The time for a whole request. What comes more slowly is cut off. */
const BODY_MS = 60_000;

/**
 * Stands between an agent and its provider: holds the key, counts what is used, lets no call pass beyond the limits, and
 * remembers when the provider fails, so that an outage is never taken for the end of an agent's work. With a key of ours,
 * only generations, counts of tokens and lists of models pass: other calls could cost something that is not counted.
 */
export async function startModelGateway(options: ModelGatewayOptions): Promise<ModelGateway> {
  const { listen, limits = {}, onSpend, retry = {}, callTimeoutMs: idleMs = 120_000 } = options;
  const { baseURL, auth } = options.upstream;
  const endpoint = parseEndpoint({ baseURL, headers: auth && { [auth.header]: auth.value } });
  const spending = new Spending(limits, options.price);
  const admission = new Admission(spending, options);
  const upstream = await openUpstream(endpoint, idleMs);
  const { limiter = createRateLimiter({ patienceMs: patienceFor(retry.maxRetries ?? GATEWAY_RETRIES) }) } = options;
  const closing = linkedSignal(options.signal);
  const root = 'socket' in listen ? '' : `/${randomBytes(12).toString('hex')}`;
  const counting = { spending, admission, onSpend };
  const room = new BodyRoom();
  const server = serverForAgents(async (incoming, response) => {
    const signal = untilLeft(response, closing.signal);
    const relay = { upstream, endpoint, idleMs, retry, limiter, signal, response };
    const call = readCall(incoming, { root, endpoint });
    if ('refused' in call) sendError(response, call.refused, call.dialect);
    else await answer(call, { incoming, room, relay, counting });
  });
  await listenOn(server, listen);
  return {
    url: 'socket' in listen ? undefined : `http://127.0.0.1:${(server.address() as AddressInfo).port}${root}`,
    ...factsOf(spending, admission),
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the gateway is closed'));
      closing.release();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, upstream[Symbol.asyncDispose]()]);
    },
  };
}

function serverForAgents(answer: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>): Server {
  const lastOf = new WeakMap<Socket, ServerResponse>();
  const server = createServer(async (incoming, response) => {
    const { socket } = incoming;
    // No agent's client sends a request before the last one is answered. A flood of them would fill our memory.
    if (lastOf.get(socket)?.writableEnded === false) return void socket.destroy();
    lastOf.set(socket, response);
    await answer(incoming, response).catch(() => response.destroy());
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.requestTimeout = BODY_MS;
  server.keepAliveTimeout = 600_000; // a client that uses a connection just when it is closed would see a failure
  return server;
}

const factsOf = (spending: Spending, admission: Admission): Omit<ModelGateway, 'url' | typeof Symbol.asyncDispose> => ({
  usage: () => spending.usage(),
  calls: () => spending.calls,
  sent: () => spending.sent,
  costUsd: () => spending.costUsd(),
  ended: () => admission.ended,
  failure: () => admission.failure,
  silence: () => admission.silence,
  offered: () => admission.first.offered,
  tools: () => admission.first.tools,
  models: () => [...admission.models],
  refused: () => Object.fromEntries(admission.refused),
});

type Counting = Pick<ModelGatewayOptions, 'onSpend'> & { readonly spending: Spending; readonly admission: Admission };

type Answering = {
  readonly incoming: IncomingMessage;
  readonly room: BodyRoom;
  readonly relay: Relay;
  readonly counting: Counting;
};

/** What a call asks for is read once and forgotten: while it waits for its answer, only its bytes are kept. */
async function answer(call: Call, { incoming, room, relay, counting }: Answering): Promise<void> {
  let begun: BegunCall | undefined;
  const look = (bytes: Buffer): Buffer | Fault => {
    const { dialect, isGeneration, hasKey, request } = call;
    if (dialect === undefined) return hasKey ? Buffer.alloc(0) : bytes;
    const asked = readAsked(bytes, { dialect, path: request.path, hasKey });
    if ('status' in asked) return asked;
    if (!isGeneration) return asked.bytes;
    const refusal = counting.admission.refuse(asked);
    if (refusal !== undefined) return refusal;
    begun = { ...call, dialect: asked.dialect, model: asked.model, counted: begin(asked, relay, counting) };
    return asked.bytes;
  };
  await room.hold(incoming, look, async (body) => {
    if ('status' in body) return sendError(relay.response, body, call.dialect);
    const request = body.length === 0 ? call.request : { ...call.request, body };
    if (begun === undefined) await relayOther({ ...call, request }, relay);
    else await generate({ ...begun, request }, relay, counting);
  });
}

type BegunCall = GenerationCall & { readonly counted: CallSpending };

function begin({ model, most }: Asked, { endpoint }: Relay, { spending, admission }: Counting): CallSpending {
  const counted = spending.begin(model, most);
  if (spending.calls === 1) admission.silence = new ModelCallError(`${endpoint.name} has not answered at all`);
  return counted;
}

async function generate({ counted, ...call }: BegunCall, relay: Relay, counting: Counting): Promise<void> {
  const { spending, admission, onSpend } = counting;
  await relayCall(call, {
    ...relay,
    onUsage(usage) {
      counted.usage = usage;
    },
    onAnswer() {
      admission.silence = undefined;
    },
    onSend() {
      counted.sent += 1;
      onSpend?.(spending.soFar());
    },
    onTrouble(error) {
      admission.silence = error;
    },
    onFailure: (error) => admission.fail(error),
  });
  counted.most = noUsage;
  onSpend?.(spending.soFar());
}

/** Aborts when the caller leaves, or the gateway closes. */
function untilLeft(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const { signal, abort, release } = linkedSignal(closing);
  response.once('close', () => {
    abort(new Error('the caller has left'));
    release();
  });
  return signal;
}

const listenOn = (server: Server, listen: ModelGatewayOptions['listen']): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    if ('socket' in listen) server.listen(listen.socket, resolve);
    else server.listen(listen.port, '127.0.0.1', resolve);
  });

/** The file of the forwarder: plain JavaScript without dependencies, so that it runs inside a sandbox. */
export const forwarderPath = (): string => fileURLToPath(new URL('./forward.mjs', import.meta.url));

type ForwardedProgram = {
  /** Where the gateway listens, as seen from inside. */
  readonly socket: string;
  /** The program finds the gateway at http://127.0.0.1:port. */
  readonly port: number;
  readonly program: string;
  readonly args: readonly string[];
  /** Default: the Node that runs this. */
  readonly node?: string | undefined;
};

/** The command that runs a program where there is no network, with the gateway's socket as a port on loopback. */
export function throughForwarder({ socket, port, program, args, node = process.execPath }: ForwardedProgram) {
  return { program: node, args: [forwarderPath(), socket, String(port), '--', program, ...args] };
}
