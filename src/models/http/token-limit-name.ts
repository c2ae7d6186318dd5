import type { Endpoint } from './endpoint.ts';

type Fetch = typeof globalThis.fetch;

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
