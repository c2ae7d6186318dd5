import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { connect } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { startModelGateway } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { ask, chat, startProvider } from './gateway-calls.ts';

const listen = { port: 0 };
const auth = { header: 'x-api-key', value: 'the-key' };
const url = '/v1/chat/completions';

/** Spaces before a request are JSON too. */
const padded = (megabytes: number, text = 'hello') =>
  Buffer.concat([Buffer.alloc(megabytes * 1_000_000, ' '), Buffer.from(JSON.stringify(chat.body(text)))]);

/** A frame of blocks that each repeat one byte, or hold the bytes as they are. */
function zstd(content: Buffer | { readonly repeated: number }, windowExponent = 7): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, windowExponent << 3])];
  const block = (size: number, type: 0 | 1, isLast: boolean, bytes: Buffer) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE((size << 3) | (type << 1) | Number(isLast), 0, 3);
    parts.push(head, bytes);
  };
  if (Buffer.isBuffer(content)) block(content.length, 0, true, content);
  else for (let n = 1; n <= content.repeated; n++) block(131_072, 1, n === content.repeated, Buffer.from(' '));
  return Buffer.concat(parts);
}

const brotli = (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });

const send = (root: string | undefined, body: Buffer, headers: Record<string, string> = {}) =>
  fetch(`${root}${url}`, { method: 'POST', body: new Uint8Array(body), headers });

/** A request whose body has begun and never ends. */
async function openBody(root: string | undefined, bytes: Buffer): Promise<ClientRequest> {
  const open = request(`${root}${url}`, { method: 'POST' });
  open.on('error', () => {});
  await new Promise((resolve) => open.write(bytes, resolve));
  return open;
}

describe('a packed request', () => {
  it.each([
    ['gzip', gzipSync],
    ['br', brotli],
    ['deflate', deflateSync],
    ['zstd', zstd],
  ] as const)('of %s is unpacked, counted, and sent on in plain', async (encoding, pack) => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    const { status } = await send(gateway.url, pack(padded(0)), { 'content-encoding': encoding });
    expect([status, llm.calls(), gateway.models()]).toEqual([200, 1, ['some-model']]);
    expect(llm.requests[0]!.headers['content-encoding']).toBeUndefined();
  });

  const bombs = () => ({
    gzip: gzipSync(padded(40)),
    br: brotli(padded(40)),
    deflate: deflateSync(padded(40)),
    zstd: zstd({ repeated: 400 }),
    'zstd of a huge window': zstd(padded(0), 21),
    'zstd of many blocks': zstd({ repeated: 20_000 }),
  });

  it('that unpacks to more than a request may have is refused, and the next one passes', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    for (const [name, body] of Object.entries(bombs())) {
      const reply = await send(gateway.url, body, { 'content-encoding': name.split(' ')[0]! });
      expect([name, reply.status, await reply.text()]).toEqual([name, 413, expect.stringContaining('20 MB')]);
    }
    expect(llm.calls()).toBe(0);
    expect((await ask(gateway.url, chat)).status).toBe(200);
    expect(gateway.failure()).toBeUndefined();
  });

  it('that is broken is refused', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd'])
      expect((await send(gateway.url, padded(0), { 'content-encoding': encoding })).status).toBe(400);
  });
});

describe('a large request', () => {
  it('reaches the provider whole, also when it is asked again', async () => {
    const seen: { readonly text: string; readonly length: string | undefined }[] = [];
    await using provider = await startProvider(({ text, headers }, response) => {
      seen.push({ text, length: headers['content-length'] });
      response.writeHead(seen.length === 1 ? 503 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }));
    });
    const upstream = { baseURL: provider.url, auth };
    await using gateway = await startModelGateway({ upstream, listen, retry: { firstDelayMs: 1 } });
    const body = padded(3);
    expect((await send(gateway.url, body)).status).toBe(200);
    expect(seen.map(({ text, length }) => [text === body.toString(), length])).toEqual([
      [true, String(body.length)],
      [true, String(body.length)],
    ]);
  });

  it('of more than a request may have is refused, however it is announced', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    expect((await send(gateway.url, padded(30))).status).toBe(413);
    const chunked = request(`${gateway.url}${url}`, { method: 'POST' });
    chunked.on('error', () => {}); // the gateway is closed before the connection
    const answered = once(chunked, 'response');
    for (let n = 0; n < 30; n++) chunked.write(Buffer.alloc(1_000_000, ' '));
    chunked.end();
    expect((await answered)[0].statusCode).toBe(413);
    expect(llm.calls()).toBe(0);
  });
});

describe('an agent that sends half of its requests', () => {
  it('is cut off where others wait, and keeps no other attempt from its calls, large or small', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    const upstream = { baseURL: llm.url, auth };
    await using abused = await startModelGateway({ upstream, listen });
    await using other = await startModelGateway({ upstream, listen });
    const open = await Promise.all(Array.from({ length: 3 }, () => openBody(abused.url, Buffer.alloc(2_000_000, ' '))));
    const trickling = await openBody(abused.url, Buffer.from('{'));
    expect((await ask(other.url, chat)).status).toBe(200);
    expect((await send(other.url, padded(5))).status).toBe(200);
    expect((await ask(abused.url, chat)).status).toBe(200);
    expect(open.some(({ destroyed }) => destroyed)).toBe(true);
    expect(trickling.destroyed).toBe(false);
    for (const one of [...open, trickling]) one.destroy();
  });

  it('may have so many calls open at a time, and no more', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    llm.hang(60_000);
    const { port, pathname } = new URL(gateway.url!);
    const flood = connect(Number(port), '127.0.0.1');
    flood.on('error', () => {});
    const body = JSON.stringify(chat.body('hi'));
    const head = `POST ${pathname}${url} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`;
    const closed = once(flood, 'close');
    flood.write(`${head}${body}`.repeat(200));
    await closed;
    expect(gateway.calls()).toBeLessThanOrEqual(64);
    llm.hang(0);
    expect((await ask(gateway.url, chat)).status).toBe(200);
  });
});
