import http from 'node:http';
import https from 'node:https';
import type { ProxyAgent } from 'undici';
import { ModelCallError, SkillError } from '../core/contracts/index.ts';
import { knowKey, knowKeysSent } from '../core/guard/index.ts';
import { onAbort } from './on-abort.ts';

type Fetch = typeof globalThis.fetch;

/** Where calls go and what they carry. `baseURL` and `name` may be shown: they hold no secret. */
export type Endpoint = {
  /** Without credentials, query and trailing slash. */
  readonly baseURL: string;
  /** Host and path, for ids and messages. */
  readonly name: string;
  readonly queryParams: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly proxy: string | undefined;
};

export type EndpointOptions = {
  readonly baseURL: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** For a provider that has a default address. */
export type ProviderEndpointOptions = Omit<EndpointOptions, 'baseURL'> & { readonly baseURL?: string | undefined };

/** Throws `CONFIG_INVALID` unless `baseURL` is an http or https URL. Its secrets are known from then on, and masked wherever they come back. */
export function parseEndpoint({ baseURL, apiKey, headers = {} }: EndpointOptions): Endpoint {
  const url = parseURL(baseURL);
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  const queryParams = Object.fromEntries(url.searchParams);
  const sent = { ...authorization(url, apiKey), ...headers };
  for (const secret of [apiKey, decodeURIComponent(url.password), url.password]) knowKey(secret);
  knowKeysSent([sent, queryParams]);
  const [name, proxy] = [`${url.host}${path}`, proxyFor(url, process.env)];
  return { baseURL: `${url.origin}${path}`, name, queryParams, headers: sent, proxy };
}

function parseURL(baseURL: string): URL {
  const url = URL.canParse(baseURL) ? new URL(baseURL) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  const shown = baseURL.replace(/^.*@/, '…@');
  throw new SkillError('CONFIG_INVALID', `baseURL must be an http or https URL, got ${JSON.stringify(shown)}`, {
    hint: 'For example http://localhost:8000/v1',
  });
}

/** The key as a bearer token; without one, a user and password in the URL as basic authentication. */
function authorization({ username, password }: URL, apiKey: string | undefined): Record<string, string> {
  if (apiKey) return { Authorization: `Bearer ${apiKey}` };
  if (!username && !password) return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { Authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

/**
 * The proxy that the environment names for `url`, or undefined for a direct connection. Reads `HTTPS_PROXY`,
 * `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case, lower case first. An empty variable does not count.
 * This machine is called directly: through a proxy, what stays here would leave it.
 */
export function proxyFor(url: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (isLoopback(url)) return undefined;
  const read = (name: string) => env[name] || env[name.toUpperCase()];
  const exemptions = (read('no_proxy') ?? '').split(/[,\s]+/).filter(Boolean);
  if (exemptions.some((exemption) => isExempt(url, exemption.toLowerCase()))) return undefined;
  const names = url.protocol === 'https:' ? ['https_proxy', 'all_proxy', 'http_proxy'] : ['http_proxy', 'all_proxy'];
  const proxy = names.map(read).find(Boolean);
  return proxy === undefined || proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** A URL spells every IPv4 address as four numbers, and the host in small letters. */
const isLoopback = ({ hostname }: URL): boolean => /^(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])$/.test(hostname);

/** `*`, a host with its subdomains (`example.com`, `.example.com`, `*.example.com`), or either with a port. */
function isExempt(url: URL, exemption: string): boolean {
  if (exemption === '*') return true;
  const [, host = exemption, port] = /^([^:]+|\[.*\]):(\d+)$/.exec(exemption) ?? [];
  const domain = host.replace(/^\*?\./, '');
  const isPortMatched = port === undefined || port === (url.port || (url.protocol === 'https:' ? '443' : '80'));
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return isPortMatched && (hostname === domain.replace(/^\[|\]$/g, '') || hostname.endsWith(`.${domain}`));
}

/** The settings that every provider of the SDK takes. */
export function sdkSettings(endpoint: Endpoint) {
  return { baseURL: endpoint.baseURL, headers: { ...endpoint.headers }, fetch: endpointFetch(endpoint) };
}

/** `httpFetch` with the query of the base URL on every call, because most providers of the SDK drop it. */
export function endpointFetch(endpoint: Endpoint): Fetch {
  const fetch = withTokenLimitName(httpFetch(endpoint.proxy), endpoint);
  const added = Object.entries(endpoint.queryParams);
  if (added.length === 0) return fetch;
  return (input, init) => {
    const url = new URL(String(input));
    for (const [name, value] of added) url.searchParams.set(name, value);
    return fetch(url, init);
  };
}

/** Servers name the token limit of a reply in two ways: newer ones of OpenAI in the second, most others in the first. */
export type TokenLimitName = 'max_tokens' | 'max_completion_tokens';

const wanted = new WeakMap<Endpoint, TokenLimitName>();

/** Sets the name that `withTokenLimitName` uses for later calls to `endpoint`. */
export function wantTokenLimitName(endpoint: Endpoint, name: TokenLimitName): void {
  wanted.set(endpoint, name);
}

/** Renames the limit below the SDK, which chooses its name by the name of the model. */
function withTokenLimitName(fetch: Fetch, endpoint: Endpoint): Fetch {
  return (input, init) => {
    const name = wanted.get(endpoint);
    if (name === undefined) return fetch(input, init);
    const { max_tokens, max_completion_tokens = max_tokens, ...rest } = JSON.parse(String(init?.body));
    return fetch(input, { ...init, body: JSON.stringify({ ...rest, [name]: max_completion_tokens }) });
  };
}

/**
 * A `fetch` for calls with plain headers and a text as body. Without a `proxy` it uses node:http, which takes half the
 * processor time of the global `fetch`. Redirects are not followed: a key stays with its host.
 */
const httpFetch = (proxy: string | undefined): Fetch => (proxy === undefined ? fetchDirectly : fetchThrough(proxy));

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
  const url = new URL(String(input));
  const reply = await send(url, init ?? {}, url.protocol === 'https:' ? agents.https : agents.http);
  // The server closed the idle connection just then: that is no answer to this call, so that it is no further try of it.
  return reply === 'stale' ? ((await send(url, init ?? {}, false)) as Response) : reply;
};

/** The reply. On a new connection (`agent` false) it is never `stale`. */
async function send(url: URL, init: RequestInit, agent: http.Agent | false): Promise<Response | 'stale'> {
  const { method = 'GET', headers, body, signal } = init;
  const request = (url.protocol === 'https:' ? https : http).request(url, {
    method,
    agent,
    headers: { ...(headers as Record<string, string>), 'accept-encoding': 'identity' }, // bodies are not unpacked here
  });
  const stopListening = onAbort(signal ?? undefined, (reason) => {
    request.destroy(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
  });
  try {
    const incoming = await responseTo(request, body as string | undefined);
    return incoming === 'stale' ? incoming : await readReply(incoming, url.host);
  } finally {
    stopListening();
  }
}

const responseTo = (request: http.ClientRequest, body: string | undefined) =>
  new Promise<http.IncomingMessage | 'stale'>((resolve, reject) => {
    request.once('response', resolve);
    // It stays, since a connection can still fail after the head of its reply.
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (request.reusedSocket && STALE.includes(error.code ?? '')) resolve('stale');
      else reject(error);
    });
    request.end(body);
  });

/** What a connection fails with that was closed while it was idle. */
export const STALE = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

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

type ResponseHead = Pick<Response, 'status' | 'statusText'> & { readonly headers: http.IncomingHttpHeaders };

/** The parts of a `Response` that the SDK reads. A real one costs as much time as sending the request. */
function bufferedResponse({ status, statusText, headers }: ResponseHead, chunks: readonly Uint8Array[]): Response {
  const text = withPlainCounts(
    Buffer.concat(chunks)
      .toString('utf8')
      .replace(/^\uFEFF/, ''),
  );
  const response = {
    status,
    ok: status >= 200 && status < 300,
    statusText,
    headers: new Map(Object.entries(headers).filter(([, value]) => typeof value === 'string')), // names in lower case
    body: text === '' ? null : { getReader: () => bodyReader(text), cancel: async () => {} },
    text: async () => text,
  };
  return response as unknown as Response;
}

/** A count of tokens as text. Inside of a text, JSON writes quotes with a backslash before them, so that no answer looks like this. */
const COUNT_IN_TEXT = /("\w{0,40}[tT]oken\w{0,40}"\s{0,9}:\s{0,9})"(\d{1,9})"/g;

/** Some servers write their counts of tokens as texts. The SDK would refuse the whole reply for them. */
const withPlainCounts = (body: string): string => body.replace(COUNT_IN_TEXT, '$1$2');

function bodyReader(body: string) {
  const chunks = [Buffer.from(body)];
  return {
    async read() {
      const value = chunks.shift();
      return { done: value === undefined, value };
    },
    async cancel() {},
    releaseLock() {},
  };
}
