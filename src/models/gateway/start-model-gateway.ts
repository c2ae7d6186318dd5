import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { AgentSpending, ModelCallError, OfferedSkill, Usage } from '../../core/contracts/index.ts';
import type { Price } from '../budget/prices.ts';
import { parseEndpoint } from '../http/endpoint.ts';
import { linkedController } from '../on-abort.ts';
import {
  createSpending,
  type GatewayEnd,
  type GatewayLimits,
  type NamedSkill,
  openAdmission,
  watchSilence,
} from './admission.ts';
import { type GatewayRetry, openUpstream } from './ask-upstream.ts';
import { type GenerationCall, mostOf, readCall } from './read-call.ts';
import { type Relay, relayCall, relayOther, sendError } from './relay-call.ts';

export type ModelGatewayOptions = {
  readonly upstream: {
    /** What stands before the paths that agents ask for, such as https://api.anthropic.com before /v1/messages. */
    readonly baseURL: string;
    /** In place of the caller's sign-in. Without it, the caller's passes. */
    readonly auth?: { readonly header: string; readonly value: string } | undefined;
  };
  readonly listen: { readonly socket: string } | { readonly port: number };
  readonly limits?: GatewayLimits | undefined;
  /** Of whatever model is asked. Default: the listed price of each. */
  readonly price?: Price | undefined;
  /** Whether a model may be asked, by its name. All may, unless it is said: under our key an agent could ask any. */
  readonly allows?: ((model: string) => boolean) | undefined;
  /** Looked for in the first request. */
  readonly skills?: readonly NamedSkill[] | undefined;
  /** Ends all calls. */
  readonly signal?: AbortSignal | undefined;
  /** How long the provider may send nothing. */
  readonly callTimeoutMs?: number | undefined;
  readonly retry?: GatewayRetry | undefined;
  /** Is notified before each call passes, and when it is over. If it throws, the call fails with that error. */
  readonly onSpend?: ((spending: AgentSpending) => void) | undefined;
  /** Notified once, when no further call will pass. */
  readonly onEnd?: ((reason: GatewayEnd) => void) | undefined;
};

export interface ModelGateway extends AsyncDisposable {
  /** The root on loopback, with a word in it that no other process of this machine knows. Undefined on a socket, whose root is `/`. */
  readonly url: string | undefined;
  usage(): Usage;
  /** Generations that were let pass. */
  calls(): number;
  /** Undefined when a call has no price. */
  costUsd(): number | undefined;
  ended(): 'turns' | 'budget' | undefined;
  /** Why the provider could not be asked any more. */
  failure(): ModelCallError | undefined;
  /** What keeps an agent waiting: a provider that has not answered once, or sent nothing for as long as is waited. */
  silence(): ModelCallError | undefined;
  /** Which skills the first request with tools told of, and the names of those tools. */
  offered(): readonly OfferedSkill[];
  tools(): readonly string[];
  /** The names of the models that were asked for. */
  models(): readonly string[];
  /** How often other models were asked for than those that are allowed, by name. */
  refused(): Readonly<Record<string, number>>;
}

/**
 * Stands between an agent and its provider: holds the key, counts what is used, lets no call pass beyond the limits, and
 * remembers when the provider fails, so that an outage is never taken for the end of an agent's work. With a key of ours,
 * only generations, counts of tokens and lists of models pass: all else could cost something that is not counted.
 */
export async function startModelGateway(options: ModelGatewayOptions): Promise<ModelGateway> {
  const { upstream: far, listen, limits = {}, skills = [], signal, onEnd, callTimeoutMs = 120_000 } = options;
  const endpoint = parseEndpoint({
    baseURL: far.baseURL,
    headers: far.auth && { [far.auth.header]: far.auth.value },
  });
  const spending = createSpending(limits, options.price);
  const upstream = await openUpstream(endpoint, callTimeoutMs);
  const { controller: closing, release } = linkedController(signal);
  const root = 'socket' in listen ? '' : `/${randomBytes(12).toString('hex')}`;
  const admission = openAdmission({ spending, allows: options.allows, skills, onEnd });
  const waiting = watchSilence(endpoint.name);

  function tellSpending(): void {
    const { calls, usage, costUsd, most } = spending;
    options.onSpend?.({ calls: calls(), usage: usage(), costUsd: costUsd(), most: most() });
  }

  async function generate(call: GenerationCall, relay: Relay): Promise<void> {
    const refusal = admission.refuse(call);
    if (refusal !== undefined) return sendError(relay.response, refusal, call.dialect);
    const counted = spending.begin({ model: call.model, most: mostOf(call) });
    tellSpending();
    if (spending.calls() === 1) waiting.begin();
    const { onAnswer, onSilence } = waiting;
    await relayCall(call, { ...relay, onUsage: counted.use, onAnswer, onSilence, onFailure: admission.fail });
    counted.end();
    tellSpending();
  }

  async function answer(incoming: IncomingMessage, response: ServerResponse, leaving: AbortSignal): Promise<void> {
    const call = await readCall(incoming, { root, endpoint });
    const relay = { upstream, endpoint, idleMs: callTimeoutMs, retry: options.retry ?? {}, signal: leaving, response };
    if ('refused' in call) return sendError(response, call.refused, call.dialect);
    return call.kind === 'other' ? relayOther(call, relay) : generate(call, relay);
  }

  const server = createServer((incoming, response) => {
    answer(incoming, response, untilLeft(response, closing.signal)).catch(() => response.destroy());
  });
  server.keepAliveTimeout = 600_000; // a client that uses a connection just when it is closed would see a failure
  await listenOn(server, listen);

  return {
    url: 'socket' in listen ? undefined : `http://127.0.0.1:${(server.address() as AddressInfo).port}${root}`,
    usage: spending.usage,
    calls: spending.calls,
    costUsd: spending.costUsd,
    silence: waiting.silence,
    ...admission.seen,
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the gateway is closed'));
      release();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await Promise.all([closed, upstream[Symbol.asyncDispose]()]);
    },
  };
}

/** Aborts when the caller leaves, or the gateway closes. */
function untilLeft(response: ServerResponse, closing: AbortSignal): AbortSignal {
  const { controller, release } = linkedController(closing);
  response.once('close', () => {
    controller.abort(new Error('the caller has left'));
    release();
  });
  return controller.signal;
}

function listenOn(server: Server, listen: ModelGatewayOptions['listen']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    if ('socket' in listen) server.listen(listen.socket, resolve);
    else server.listen(listen.port, '127.0.0.1', resolve);
  });
}

/** The file of the forwarder: plain JavaScript that needs nothing but Node, so that it runs inside a sandbox. */
export function forwarderPath(): string {
  return fileURLToPath(new URL('./forward.mjs', import.meta.url));
}

type ForwardedProgram = {
  /** Where the gateway listens, as seen from inside. */
  readonly socket: string;
  /** What the program finds it at: http://127.0.0.1:port. */
  readonly port: number;
  readonly program: string;
  readonly args: readonly string[];
  /** By default the Node that runs this. */
  readonly node?: string | undefined;
};

/** The command that runs a program where there is no network, with the gateway's socket as a port on loopback. */
export function throughForwarder({ socket, port, program, args, node = process.execPath }: ForwardedProgram) {
  return { program: node, args: [forwarderPath(), socket, String(port), '--', program, ...args] };
}
