import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Endpoint } from '../http/endpoint.ts';
import type { PlainHeaders } from './passed-headers.ts';

export type UpstreamRequest = {
  readonly method: string;
  /** With its query, to be added to the base URL. */
  readonly path: string;
  readonly headers: PlainHeaders;
  readonly body?: Buffer | undefined;
};

export type UpstreamReply = { readonly status: number; readonly headers: PlainHeaders; readonly body: Readable };

export interface Upstream extends AsyncDisposable {
  /** Once the head of the answer is there. Fails when nothing comes for `idleMs`, then or later in the body. */
  send(request: UpstreamRequest, signal: AbortSignal): Promise<UpstreamReply>;
}

/** Connections of its own, closed with it, through a proxy if the environment names one. Redirects are not followed: a key stays with its host. */
export async function openUpstream({ baseURL, queryParams, proxy }: Endpoint, idleMs: number): Promise<Upstream> {
  const { Agent, ProxyAgent, request: send } = await import('undici');
  const timeouts = { headersTimeout: idleMs, bodyTimeout: idleMs };
  const dispatcher =
    proxy === undefined ? new Agent(timeouts) : new ProxyAgent({ ...timeouts, uri: proxy, proxyTunnel: false });
  return {
    async send({ method, path, headers, body }, signal) {
      const url = new URL(`${baseURL}${path}`);
      for (const [name, value] of Object.entries(queryParams)) url.searchParams.set(name, value);
      const options = { method: method as 'POST', headers, body: body ?? null, signal, dispatcher };
      const reply = await send(url, options);
      return { status: reply.statusCode, ...unpacked(reply.body, reply.headers as PlainHeaders) };
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

const UNPACKERS = { gzip: createGunzip, br: createBrotliDecompress, deflate: createInflate } as const;

/** Some servers pack whatever they were asked for. */
function unpacked(body: Readable, headers: PlainHeaders): { body: Readable; headers: PlainHeaders } {
  const { 'content-encoding': encoding, ...rest } = headers;
  const unpack = UNPACKERS[String(encoding) as keyof typeof UNPACKERS];
  if (unpack === undefined) return { body, headers };
  const plain = unpack();
  body.on('error', (error) => plain.destroy(error));
  plain.on('close', () => body.destroy());
  return { body: body.pipe(plain), headers: rest };
}
