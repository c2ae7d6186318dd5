import { SkillError } from '../../core/contracts/index.ts';
import { httpFetch } from './http-fetch.ts';

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
  /** Must not appear in any message. */
  readonly secrets: readonly string[];
};

export type EndpointOptions = {
  readonly baseURL: string;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
};

/** For a provider that has a default address. */
export type ProviderEndpointOptions = Omit<EndpointOptions, 'baseURL'> & { readonly baseURL?: string | undefined };

/** Throws `CONFIG_INVALID` unless `baseURL` is an http or https URL. */
export function parseEndpoint({ baseURL, apiKey, headers = {} }: EndpointOptions): Endpoint {
  const url = parseURL(baseURL);
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  const queryParams = Object.fromEntries(url.searchParams);
  const sent = { ...authorization(url, apiKey), ...headers };
  const passwords = [decodeURIComponent(url.password), url.password];
  const secrets = [...passwords, ...Object.values(sent).map(withoutScheme), ...Object.values(queryParams)];
  const [name, proxy] = [`${url.host}${path}`, proxyFor(url, process.env)];
  return { baseURL: `${url.origin}${path}`, name, queryParams, headers: sent, proxy, secrets };
}

/** The secret in a header that signs in. */
export const withoutScheme = (header: string): string => header.replace(/^(Bearer|Basic) /, '');

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
 */
export function proxyFor(url: URL, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const read = (name: string) => env[name] || env[name.toUpperCase()];
  const exemptions = (read('no_proxy') ?? '').split(/[,\s]+/).filter(Boolean);
  if (exemptions.some((exemption) => isExempt(url, exemption.toLowerCase()))) return undefined;
  const names = url.protocol === 'https:' ? ['https_proxy', 'all_proxy', 'http_proxy'] : ['http_proxy', 'all_proxy'];
  const proxy = names.map(read).find(Boolean);
  return proxy === undefined || proxy.includes('://') ? proxy : `http://${proxy}`;
}

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
function endpointFetch(endpoint: Endpoint): Fetch {
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
