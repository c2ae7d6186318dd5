import type { Endpoint } from './endpoint.ts';
import { httpFetch } from './http-fetch.ts';
import { withTokenLimitName } from './token-limit-name.ts';

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
