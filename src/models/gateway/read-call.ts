import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { decompress as unzstd } from 'fzstd';
import type { Usage } from '../../core/contracts/index.ts';
import { knowKey } from '../../core/guard/index.ts';
import type { Endpoint } from '../endpoint.ts';
import { requestHeaders, signInOf, type UpstreamRequest } from './ask-upstream.ts';
import { type Fault, findDialect, type GatewayDialect, type Json } from './gateway-dialects.ts';

type CallBase = { readonly request: UpstreamRequest };

export type GenerationCall = CallBase & {
  readonly kind: 'generation';
  readonly dialect: GatewayDialect;
  readonly body: Json;
  readonly model: string | undefined;
};
export type OtherCall = CallBase & { readonly kind: 'other' };
type RefusedCall = { readonly refused: Fault; readonly dialect?: GatewayDialect | undefined };

/** Other calls that pass under our key: they cost nothing and only tell about models. */
const FREE = /^POST .*(?:\/count_tokens|:countTokens|\/input_tokens)$|^(?:GET|HEAD) .*\/models(?:\/[^/]+)*$/;

export async function readCall(
  incoming: IncomingMessage,
  { root, endpoint }: { readonly root: string; readonly endpoint: Endpoint },
): Promise<GenerationCall | OtherCall | RefusedCall> {
  const { method = 'GET', headers } = incoming;
  const hasKey = Object.keys(endpoint.headers).length > 0;
  const target = targetOf(incoming.url ?? '/', root, hasKey);
  if (target === undefined) return refused(404, 'No such path below this gateway.');
  const asked = `${method} ${target.path}`;
  const dialect = method === 'POST' ? findDialect(target.path) : undefined;
  if (hasKey && dialect === undefined && !FREE.test(asked))
    return refused(404, `${asked} is not passed on: only generations, counts of tokens and lists of models are.`);
  const body = await readBody(incoming);
  if (body === undefined) return refused(413, `A request may have ${MAX_BODY_MB} MB.`, dialect);
  const request = {
    method,
    path: `${target.path}${target.query}`,
    headers: requestHeaders(headers, endpoint.headers),
    ...(body.length > 0 ? { body } : {}),
  };
  if (!hasKey) signInOf(headers).forEach(knowKey);
  return dialect === undefined ? { request, kind: 'other' } : toGeneration(request, dialect, target.path);
}

function toGeneration(request: UpstreamRequest, dialect: GatewayDialect, path: string): GenerationCall | RefusedCall {
  try {
    const { 'content-encoding': encoding, ...headers } = request.headers;
    const body = JSON.parse(unpack(request.body ?? Buffer.alloc(0), String(encoding)).toString('utf8'));
    const prepared = dialect.prepare?.(body) ?? body;
    const sent = prepared === body ? request : { ...request, headers, body: Buffer.from(JSON.stringify(prepared)) };
    return { kind: 'generation', dialect, body, model: dialect.modelOf(body, path), request: sent };
  } catch {
    return refused(400, 'Expected a request in JSON.', dialect);
  }
}

/** For requests without a token limit. */
const USUAL_OUTPUT = 32_000;

/** The most that a call may use: no token is shorter than a byte. */
export function mostOf({ body }: GenerationCall): Usage {
  const asked = body.max_tokens ?? body.max_completion_tokens ?? body.max_output_tokens;
  const output = asked ?? body.generationConfig?.maxOutputTokens;
  const input = Buffer.byteLength(JSON.stringify(body)); // the bytes that came may be compressed
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

const MAX_BODY_MB = 64;

async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size <= MAX_BODY_MB * 1_000_000) chunks.push(chunk); // the rest is read too, so that the caller gets the refusal
  }
  return size > MAX_BODY_MB * 1_000_000 ? undefined : Buffer.concat(chunks);
}

function unpack(body: Buffer, encoding: string): Buffer {
  if (encoding === 'gzip') return gunzipSync(body);
  if (encoding === 'br') return brotliDecompressSync(body);
  if (encoding === 'deflate') return inflateSync(body);
  return encoding === 'zstd' ? Buffer.from(unzstd(body)) : body;
}
