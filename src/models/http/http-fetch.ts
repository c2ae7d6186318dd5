import http from 'node:http';
import https from 'node:https';
import type { ProxyAgent } from 'undici';
import { ModelCallError } from '../../core/contracts/index.ts';
import { onAbort } from '../on-abort.ts';

type Fetch = typeof globalThis.fetch;

/**
 * A `fetch` for calls with plain headers and a text as body. Without a `proxy` it uses node:http, which takes half the
 * processor time of the global `fetch`. Redirects are not followed: a key stays with its host.
 */
export function httpFetch(proxy: string | undefined): Fetch {
  return proxy === undefined ? fetchDirectly : fetchThrough(proxy);
}

function fetchThrough(proxy: string): Fetch {
  let agent: ProxyAgent | undefined;
  return async (url, init) => {
    const { fetch, ProxyAgent } = await import('undici');
    // Without a tunnel for http: targets, since many proxies allow CONNECT to port 443 only. Time-outs are the caller's.
    agent ??= new ProxyAgent({ uri: proxy, proxyTunnel: false, headersTimeout: 0, bodyTimeout: 0 });
    const response = await fetch(String(url), { ...(init as object), redirect: 'manual', dispatcher: agent });
    const chunks: Uint8Array[] = [];
    const keep = keepWithin(chunks, new URL(String(url)).host);
    for await (const chunk of response.body ?? []) keep(chunk as Uint8Array); // leaving the loop closes the connection
    const { status, statusText } = response;
    return bufferedResponse({ status, statusText, headers: Object.fromEntries(response.headers) }, chunks);
  };
}

/** More than any reply. A server that sends without end would fill the memory. */
const MAX_REPLY_MB = 32;

/** Adds to `chunks`, and throws when they become too large together. */
function keepWithin(chunks: Uint8Array[], host: string): (chunk: Uint8Array) => void {
  let size = 0;
  return (chunk) => {
    size += chunk.length;
    if (size > MAX_REPLY_MB * 1_000_000) {
      throw new ModelCallError(`${host} sent more than ${MAX_REPLY_MB} MB in reply to one call`, {
        isRetryable: false,
        hint: 'Check what the server sends: no model writes as much.',
      });
    }
    chunks.push(chunk);
  };
}

/**
 * Idle connections are closed after 4 s, before servers do it at their usual 5 s: a request written to a connection
 * that is just being closed is lost. Requests in flight are not touched by this time-out.
 */
const agentOptions = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 4_000 };

/** Shared by all models, so that they share connections. Idle ones do not keep a process alive. */
const agents = { http: new http.Agent(agentOptions), https: new https.Agent(agentOptions) };

const fetchDirectly: Fetch = async (input, init) => {
  const { method = 'GET', headers, body, signal } = init ?? {};
  const url = new URL(String(input));
  const isSecure = url.protocol === 'https:';
  const request = (isSecure ? https : http).request(url, {
    method,
    agent: isSecure ? agents.https : agents.http,
    headers: { ...(headers as Record<string, string>), 'accept-encoding': 'identity' }, // bodies are not unpacked here
  });
  const stopListening = onAbort(signal ?? undefined, (reason) => {
    request.destroy(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
  });
  try {
    return await readReply(await send(request, body as string | undefined), url.host);
  } finally {
    stopListening();
  }
};

function send(request: http.ClientRequest, body: string | undefined): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', reject); // stays, since a connection can still fail after the head of its reply
    request.end(body);
  });
}

/** By events, since iterating over a stream takes several turns of the event loop for a body of one piece. */
function readReply(incoming: http.IncomingMessage, host: string): Promise<Response> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const keep = keepWithin(chunks, host);
    incoming.on('data', (chunk: Buffer) => {
      try {
        keep(chunk);
      } catch (error) {
        incoming.destroy(error as Error);
      }
    });
    incoming.once('error', reject);
    const { statusCode: status = 0, statusMessage: statusText = '', headers } = incoming;
    incoming.once('end', () => resolve(bufferedResponse({ status, statusText, headers }, chunks)));
  });
}

type ResponseHead = {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
};

/** The parts of a `Response` that the SDK reads. A real one costs as much time as sending the request. */
function bufferedResponse({ status, statusText, headers }: ResponseHead, chunks: readonly Uint8Array[]): Response {
  const body = Buffer.concat(chunks);
  const response = {
    status,
    ok: status >= 200 && status < 300,
    statusText,
    headers: new Map(Object.entries(headers).filter(([, value]) => typeof value === 'string')), // names in lower case
    body: body.length === 0 ? null : { getReader: () => bodyReader(body), cancel: async () => {} },
    text: async () => body.toString('utf8'),
  };
  return response as unknown as Response;
}

function bodyReader(body: Buffer) {
  const chunks = [body];
  return {
    async read() {
      const value = chunks.shift();
      return { done: value === undefined, value };
    },
    async cancel() {},
    releaseLock() {},
  };
}
