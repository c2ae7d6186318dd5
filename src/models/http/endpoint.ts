import { SkillError } from '../../core/contracts/index.ts';
import { httpFetch } from './http-fetch.ts';

/** Where calls go and what they carry, with everything secret taken out of what may be shown. */
export type Endpoint = {
  /** Without credentials, query and trailing slash. */
  readonly baseURL: string;
  /** Host and path: how ids and messages name the endpoint. */
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

/** The same for a provider with an address of its own. */
export type ProviderEndpointOptions = Omit<EndpointOptions, 'baseURL'> & { readonly baseURL?: string | undefined };

/** Throws `CONFIG_INVALID` unless `baseURL` is an http or https URL. */
export function parseEndpoint({ baseURL, apiKey, headers = {} }: EndpointOptions): Endpoint {
  const url = parseURL(baseURL);
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  const queryParams = Object.fromEntries(url.searchParams);
  const sent = { ...authorization(url, apiKey), ...headers };
  const passwords = [decodeURIComponent(url.password), url.password];
  const tokens = Object.values(sent).map((value) => value.replace(/^(Bearer|Basic) /, ''));
  return {
    baseURL: `${url.origin}${path}`,
    name: `${url.host}${path}`,
    queryParams,
    headers: sent,
    proxy: proxyFor(url, process.env),
    secrets: [...passwords, ...tokens, ...Object.values(queryParams)],
  };
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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for `url`, or undefined for a direct connection. Reads `HTTPS_PROXY`,
 * `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case, lower case first; an empty variable is none.
 */
export function proxyFor(url: URL, environment: Environment): string | undefined {
  const exemptions = (read(environment, 'no_proxy') ?? '').split(/[,\s]+/).filter(Boolean);
  if (exemptions.some((exemption) => isExempt(url, exemption.toLowerCase()))) return undefined;
  const names = url.protocol === 'https:' ? ['https_proxy', 'all_proxy', 'http_proxy'] : ['http_proxy', 'all_proxy'];
  const proxy = names.map((name) => read(environment, name)).find((value) => value !== undefined);
  return proxy === undefined || proxy.includes('://') ? proxy : `http://${proxy}`;
}

function read(environment: Environment, name: string): string | undefined {
  return environment[name] || environment[name.toUpperCase()] || undefined;
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

type Fetch = typeof globalThis.fetch;

/** `httpFetch`, with the query of the base URL on every call: most parts of the SDK have no place for it. */
export function endpointFetch(endpoint: Endpoint): Fetch {
  const { proxy, queryParams } = endpoint;
  const fetch = withTokenLimitName(httpFetch(proxy), endpoint);
  const added = Object.entries(queryParams);
  if (added.length === 0) return fetch;
  return (input, init) => {
    const url = new URL(String(input));
    for (const [name, value] of added) url.searchParams.set(name, value);
    return fetch(url, init);
  };
}

/** What servers call the most tokens of a reply. Newer ones of OpenAI know the second, most others the first. */
export type TokenLimitName = 'max_tokens' | 'max_completion_tokens';

const wanted = new WeakMap<Endpoint, TokenLimitName>();

/** From now on calls to `endpoint` that go through `withTokenLimitName` name their limit so. */
export function wantTokenLimitName(endpoint: Endpoint, name: TokenLimitName): void {
  wanted.set(endpoint, name);
}

/** Below the SDK, which names the limit by what it knows of a model's name. */
export function withTokenLimitName(fetch: Fetch, endpoint: Endpoint): Fetch {
  return (input, init) => {
    const name = wanted.get(endpoint);
    return fetch(input, name === undefined ? init : { ...init, body: renameLimit(String(init?.body), name) });
  };
}

function renameLimit(body: string, name: TokenLimitName): string {
  const { max_tokens, max_completion_tokens = max_tokens, ...rest } = JSON.parse(body);
  return JSON.stringify({ ...rest, [name]: max_completion_tokens });
}
