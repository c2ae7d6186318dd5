import type { IncomingMessage } from 'node:http';
import type { Usage } from '../../core/contracts/index.ts';
import { knowKey } from '../../core/guard/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { type PlainHeaders, requestHeaders, signInOf, type UpstreamRequest } from './ask-upstream.ts';
import { type Fault, findDialect, findKnown, type GatewayDialect, type Json, MODELS } from './gateway-dialects.ts';
import { AsksMoreError, keepToModel } from './keep-to-model.ts';
import { isPacked } from './unpack-body.ts';

/** What is known of a call before its body is read. */
export type Call = {
  readonly request: UpstreamRequest;
  /** Of a call whose body is read: a generation, or with our key a count of tokens. */
  readonly dialect?: GatewayDialect | undefined;
  readonly isGeneration: boolean;
  /** Whether it is made with our key. */
  readonly hasKey: boolean;
};
export type RefusedCall = { readonly refused: Fault; readonly dialect?: GatewayDialect | undefined };

export function readCall(
  { method = 'GET', url = '/', headers }: IncomingMessage,
  { root, endpoint }: { readonly root: string; readonly endpoint: Endpoint },
): Call | RefusedCall {
  const hasKey = Object.keys(endpoint.headers).length > 0;
  const target = targetOf(url, root, hasKey);
  if (target === undefined) return refused(404, 'No such path below this gateway.');
  const isPost = method === 'POST';
  const generation = isPost ? (hasKey ? findKnown(target.path, 'generation') : findDialect(target.path)) : undefined;
  // Counts cost nothing and only describe a request, but for them too a provider would fetch what that names.
  const dialect = generation ?? (isPost && hasKey ? findKnown(target.path, 'count') : undefined);
  const isList = ['GET', 'HEAD'].includes(method) && MODELS.test(target.path);
  if (hasKey && dialect === undefined && !isList) return refused(404, refusedPath(method, target.path));
  const sent = sentHeaders(requestHeaders(headers, endpoint.headers), { isRead: dialect !== undefined && hasKey });
  const request = { method, path: `${target.path}${target.query}`, headers: sent };
  if (!hasKey) signInOf(headers).forEach(knowKey);
  return { request, dialect, isGeneration: generation !== undefined, hasKey };
}

const refusedPath = (method: string, path: string) =>
  `${method} ${path} is not passed on: only generations, counts of tokens and lists of models are.`;

/** Bodies are sent unpacked. One that was read is sent as what it was read as: UTF-8 and JSON. */
function sentHeaders({ 'content-encoding': encoding = [], ...plain }: PlainHeaders, { isRead }: { isRead: boolean }) {
  if (isRead) return { ...plain, 'content-type': 'application/json' };
  return isPacked(encoding) || encoding.length === 0 ? plain : { ...plain, 'content-encoding': encoding };
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

type ReadCall = { readonly dialect: GatewayDialect; readonly path: string; readonly hasKey: boolean };

export function readAsked(bytes: Buffer, { dialect, path, hasKey }: ReadCall): Asked | Fault {
  try {
    const text = utf8.decode(bytes);
    const body = JSON.parse(text);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return NO_JSON;
    if (namesWritten(text) !== namesRead(body)) return TWICE;
    const own = hasKey ? keepToModel(body, dialect) : body;
    const prepared = dialect.prepare?.(own) ?? own;
    const sent = prepared === body ? bytes : Buffer.from(JSON.stringify(prepared));
    const model = dialect.modelOf(body, path.split('?')[0]!);
    return { dialect, body: prepared, model, most: mostOf(body, bytes), bytes: sent };
  } catch (error) {
    return error instanceof AsksMoreError ? { status: 400, message: error.message } : NO_JSON;
  }
}

/** Of bytes that are no UTF-8, a provider could read other names than we do. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const NO_JSON: Fault = { status: 400, message: 'Expected a request in JSON.' };
const TWICE: Fault = {
  status: 400,
  message: 'A name stands twice in the same object. What we count could be another value than what the provider reads.',
};

/** How many names of values a text in JSON has. A parser keeps one of those that are equal, and others may keep another. */
function namesWritten(text: string): number {
  let names = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at);
    else if (text[at] === ':') names++;
  }
  return names;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end;
  }
}

function namesRead(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let names = 0;
  if (Array.isArray(value)) for (const entry of value) names += namesRead(entry);
  else for (const key in value) names += 1 + namesRead(value[key]);
  return names;
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
