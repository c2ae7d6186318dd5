import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { type Answer, toComplaint } from './chat-completions.ts';
import { type Models, route } from './route.ts';
import { varyRepeats } from './vary-repeats.ts';

/** The models to serve, and where. */
export type ServeSimOptions = {
  /** Answers as `sim-target`. */
  readonly target: ChatModel;
  /** Answers as `sim-optimizer`. */
  readonly optimizer: ChatModel;
  /** Answers as `sim-judge`, if there is one. */
  readonly judge?: ChatModel;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** 127.0.0.1 unless told otherwise: there is no key and no limit. */
  readonly host?: string;
  /**
   * Whether a request that comes again without a `seed` gets another draw, as from a real server. Without it the same
   * request has the same reply, for as many clients as ask.
   */
  readonly variesRepeats?: boolean;
};

/** A running server. `await using` closes it. */
export interface SimServer extends AsyncDisposable {
  /** The base URL for clients, with `/v1` at its end. */
  readonly url: string;
  /** Requests received so far. */
  readonly requests: number;
  /** Stops listening, and cuts connections that are still open. */
  close(): Promise<void>;
}

/**
 * Serves simulated models as an OpenAI-compatible endpoint: `POST /v1/chat/completions` without streaming, and
 * `GET /v1/models`. A request's `seed` is its sample index. A client that hangs up aborts its call.
 */
export async function serveSim({
  target,
  optimizer,
  judge,
  port = 0,
  host = '127.0.0.1',
  variesRepeats = false,
}: ServeSimOptions): Promise<SimServer> {
  const served = variesRepeats ? varyRepeats : (model: ChatModel) => model;
  const models = new Map([
    ['sim-target', served(target)],
    ['sim-optimizer', served(optimizer)],
    ...(judge ? [['sim-judge', served(judge)] as const] : []),
  ]);
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    void respond(models, request, response);
  });
  server.keepAliveTimeout = 60_000; // longer than clients keep a connection, so that none is cut under a request
  await listen(server, port, host);
  const close = () => closeServer(server);
  return {
    url: toUrl(server.address() as AddressInfo),
    get requests() {
      return requests;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function respond(models: Models, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const hangUp = new AbortController();
  response.once('close', () => hangUp.abort());
  try {
    send(response, await route(models, request, hangUp.signal));
  } catch (error) {
    if (!response.destroyed) send(response, toComplaint({ status: 500, message: String(error) }));
  }
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  const json = JSON.stringify(body);
  const length = Buffer.byteLength(json);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers }).end(json);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const hint = 'Choose another port, or 0 for any free one.';
      reject(new SkillError('USAGE', `Cannot listen on ${host}:${port}: ${cause.message}`, { cause, hint }));
    });
    server.listen(port, host, resolve);
  });
}

function toUrl({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/v1`;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve()); // closed already is closed too
    server.closeAllConnections();
  });
}
