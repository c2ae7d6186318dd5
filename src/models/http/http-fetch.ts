import http from 'node:http';
import https from 'node:https';
import type { ProxyAgent } from 'undici';
import { onAbort } from '../on-abort.ts';
import { bufferedResponse } from './buffered-response.ts';

type Fetch = typeof globalThis.fetch;
type PlainHeaders = Readonly<Record<string, string>>;

/**
 * Idle connections are closed after 4 s, before servers do it at their usual 5 s: a request written to a connection
 * that is just being closed is lost. Requests under way are not touched by this time-out.
 */
const agentOptions = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: 4_000 };

/** Shared by all models, so that connections are. Node lets a process end while its agents hold idle ones. */
const agents = { http: new http.Agent(agentOptions), https: new https.Agent(agentOptions) };

/**
 * A `fetch` for calls with plain headers and a text as body: straight over node:http, in half the processor time of
 * the global one, or through `proxy` if there is one. Redirects are not followed: a key stays with its host.
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
    const options = { ...(init as object), redirect: 'manual', dispatcher: agent } as const;
    return (await fetch(String(url), options)) as unknown as Response;
  };
}

const fetchDirectly: Fetch = async (input, init) => {
  const { method = 'GET', headers, body, signal } = init ?? {};
  const url = new URL(String(input));
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? agents.https : agents.http;
  // Bodies are not unpacked here, so none may come packed.
  const options = { method, agent, headers: { ...(headers as PlainHeaders), 'accept-encoding': 'identity' } };
  const request = (isSecure ? https : http).request(url, options);
  const stopListening = onAbort(signal ?? undefined, (reason) => request.destroy(toError(reason)));
  try {
    return await readReply(await send(request, body as string | undefined));
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
function readReply(incoming: http.IncomingMessage): Promise<Response> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('error', reject);
    incoming.once('end', () => resolve(bufferedResponse(incoming, Buffer.concat(chunks))));
  });
}

function toError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
