import { SkillError } from '../../core/contracts/index.ts';
import { proxyFor } from './proxy-for.ts';

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
