import type { IncomingMessage } from 'node:http';
import type { Usage } from '../../core/contracts/index.ts';
import { knowKey } from '../../core/guard/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { requestHeaders, signInOf, type UpstreamRequest } from './ask-upstream.ts';
import { type Fault, findDialect, type GatewayDialect, type Json } from './gateway-dialects.ts';
import { isPacked } from './unpack-body.ts';

/** What is known of a call before its body is read. */
export type Call = {
  readonly request: UpstreamRequest;
  /** Absent if it asks for no generation. */
  readonly dialect?: GatewayDialect | undefined;
};
export type RefusedCall = { readonly refused: Fault; readonly dialect?: GatewayDialect | undefined };

/** Other calls that pass under our key: they cost nothing and only describe models. */
const FREE = /^POST .*(?:\/count_tokens|:countTokens|\/input_tokens)$|^(?:GET|HEAD) .*\/models(?:\/[^/]+)*$/;

export function readCall(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  { root, endpoint }: { readonly root: string; readonly endpoint: Endpoint },
): Call | RefusedCall {
  const hasKey = Object.keys(endpoint.headers).length > 0;
  const target = targetOf(url, root, hasKey);
  if (target === undefined) return refused(404, 'No such path below this gateway.');
  const asked = `${method} ${target.path}`;
  const dialect = method === 'POST' ? findDialect(target.path) : undefined;
  if (hasKey && dialect === undefined && !FREE.test(asked))
    return refused(404, `${asked} is not passed on: only generations, counts of tokens and lists of models are.`);
  const { 'content-encoding': encoding = [], ...plain } = requestHeaders(headers, endpoint.headers);
  const sent = isPacked(encoding)
    ? plain
    : { ...plain, ...(encoding.length === 0 ? {} : { 'content-encoding': encoding }) };
  const request = { method, path: `${target.path}${target.query}`, headers: sent };
  if (!hasKey) signInOf(headers).forEach(knowKey);
  return { request, dialect };
}

/** What a generation asks for. */
export type Asked = {
  readonly dialect: GatewayDialect;
  readonly body: Json;
  readonly model: string | undefined;
  readonly most: Usage;
  /** The body as it is sent. */
  readonly bytes: Buffer;
};

export function readAsked(bytes: Buffer, dialect: GatewayDialect, path: string): Asked | Fault {
  try {
    const body = JSON.parse(bytes.toString('utf8'));
    const prepared = dialect.prepare?.(body) ?? body;
    const sent = prepared === body ? bytes : Buffer.from(JSON.stringify(prepared));
    const model = dialect.modelOf(body, path.split('?')[0]!);
    return { dialect, body, model, most: mostOf(body, bytes), bytes: sent };
  } catch {
    return { status: 400, message: 'Expected a request in JSON.' };
  }
}

/** For requests without a token limit. */
const USUAL_OUTPUT = 32_000;

/** The most that a call may use: no token is shorter than a byte. */
function mostOf(body: Json, { length: input }: Buffer): Usage {
  const asked = body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens;
  const output = asked ?? body.generationConfig?.maxOutputTokens;
  return { input, cached: 0, output: typeof output === 'number' ? output : USUAL_OUTPUT, reasoning: 0 };
}

const refused = (status: number, message: string, dialect?: GatewayDialect): RefusedCall => ({
  refused: { status, message },
  dialect,
});

/** Path and query below the root, without the caller's key if there is one of ours. No path leads above the base URL. */
function targetOf(url: string, root: string, hasKey: boolean): { path: string; query: string } | undefined {
  if (!url.startsWith(`${root}/`) && url !== root) return undefined;
  const parsed = new URL(`http://gateway/.${url.slice(root.length) || '/'}`);
  if (/(?:^|\/|\\|%2f|%5c)(?:\.|%2e){2}(?:\/|\\|%2f|%5c|$)/i.test(url.split('?')[0]!)) return undefined;
  if (hasKey) parsed.searchParams.delete('key');
  return { path: parsed.pathname, query: parsed.search };
}
