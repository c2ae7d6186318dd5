import type { Endpoint } from './endpoint.ts';
import { httpFetch } from './http-fetch.ts';

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
