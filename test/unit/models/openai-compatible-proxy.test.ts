import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { proxyFor } from '../../../src/models/endpoint.ts';
import { openaiCompatible } from '../../../src/public/models.ts';
import { startFakeLLM } from '../../../src/testing/index.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };
const variables = ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'].flatMap((name) => [name, name.toUpperCase()]);

beforeEach(() => {
  for (const name of variables) vi.stubEnv(name, undefined);
});
afterEach(() => vi.unstubAllEnvs());

/** A proxy on loopback that sends plain requests on to `target`, whatever host they name, and refuses tunnels. */
async function startProxy(target: string) {
  const seen: string[] = [];
  const server = createServer((incoming, response) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    passOn(incoming, response, target);
  });
  server.on('connect', (incoming, socket) => {
    seen.push(`CONNECT ${incoming.url}`);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://ada:secret@127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, target: string): void {
  const { method = 'GET', url = '', headers } = incoming;
  const onward = forward(new URL(new URL(url).pathname, target), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  incoming.pipe(onward);
}

describe('a call', () => {
  it.each(['HTTP_PROXY', 'http_proxy', 'ALL_PROXY'])('goes through the proxy in %s', async (variable) => {
    await using server = await startFakeLLM(['hi']);
    await using proxy = await startProxy(server.baseURL);
    vi.stubEnv(variable, proxy.url);
    const reply = await openaiCompatible({ model: 'm', baseURL: 'http://model.test/v1' }).complete(request);
    expect(reply.text).toBe('hi');
    expect(proxy.seen).toEqual(['POST http://model.test/v1/chat/completions']);
    expect(server.requests).toHaveLength(1);
  });

  it('goes straight to a host in NO_PROXY', async () => {
    await using server = await startFakeLLM(['hi']);
    await using proxy = await startProxy(server.baseURL);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('NO_PROXY', 'example.com,[::ffff:7f00:1]');
    const baseURL = server.baseURL.replace('127.0.0.1', '[::ffff:127.0.0.1]'); // which is not taken for this machine
    expect((await openaiCompatible({ model: 'm', baseURL }).complete(request)).text).toBe('hi');
    expect(proxy.seen).toEqual([]);
  });

  it('to this machine goes through no proxy', async () => {
    await using server = await startFakeLLM(['hi']);
    await using proxy = await startProxy(server.baseURL);
    vi.stubEnv('HTTP_PROXY', proxy.url);
    expect((await openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request)).text).toBe('hi');
    expect(proxy.seen).toEqual([]);
  });

  it('asks the proxy in HTTPS_PROXY for a tunnel, and names it when that fails', async () => {
    await using proxy = await startProxy('http://unused.test');
    vi.stubEnv('HTTPS_PROXY', proxy.url);
    const call = openaiCompatible({ model: 'm', baseURL: 'https://model.test/v1' }).complete(request);
    await expect(call).rejects.toMatchObject({
      name: 'ModelCallError',
      isRetryable: true,
      hint: expect.stringContaining(`proxy ${new URL(proxy.url).host}.`),
    });
    await expect(call).rejects.not.toThrow('secret');
    expect(proxy.seen).toEqual(['CONNECT model.test:443']);
  });

  it.each([
    [
      { status: 401, content: 'no' },
      { status: 401, isRetryable: false },
    ],
    [{ content: 'hi', tornAt: 20 }, { isRetryable: true }],
    [{ destroy: true }, { isRetryable: true }],
  ])('through a proxy that meets %j fails as a direct one does', async (answer, expected) => {
    await using server = await startFakeLLM([answer]);
    vi.stubEnv('HTTP_PROXY', new URL(server.baseURL).origin);
    const call = openaiCompatible({ model: 'm', baseURL: 'http://model.test/v1' }).complete(request);
    await expect(call).rejects.toMatchObject({ name: 'ModelCallError', ...expected });
  });

  it('through a proxy is aborted with the reason of its signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    await using server = await startFakeLLM(() => {
      controller.abort(reason);
      return new Promise(() => {});
    });
    vi.stubEnv('HTTP_PROXY', new URL(server.baseURL).origin);
    const model = openaiCompatible({ model: 'm', baseURL: 'http://model.test/v1' });
    await expect(model.complete({ ...request, signal: controller.signal })).rejects.toBe(reason);
  });
});

describe('the proxy for', () => {
  const p = 'http://proxy:3128';
  it.each<[string, Record<string, string>, string | undefined]>([
    ['https://host/v1', {}, undefined],
    ['https://host/v1', { HTTPS_PROXY: p }, p],
    ['https://host/v1', { https_proxy: p, HTTPS_PROXY: 'http://other' }, p],
    ['https://host/v1', { https_proxy: '', HTTPS_PROXY: p }, p],
    ['https://host/v1', { HTTP_PROXY: p }, p],
    ['https://host/v1', { ALL_PROXY: p }, p],
    ['https://host/v1', { HTTPS_PROXY: 'proxy:3128' }, p],
    ['http://host/v1', { HTTPS_PROXY: p }, undefined],
    ['http://host/v1', { HTTP_PROXY: p, NO_PROXY: '*' }, undefined],
    ['http://host/v1', { HTTP_PROXY: p, no_proxy: 'HOST' }, undefined],
    ['http://api.host/v1', { HTTP_PROXY: p, NO_PROXY: 'a b,host' }, undefined],
    ['http://api.host/v1', { HTTP_PROXY: p, NO_PROXY: '.host' }, undefined],
    ['http://api.host/v1', { HTTP_PROXY: p, NO_PROXY: '*.host' }, undefined],
    ['http://ghost/v1', { HTTP_PROXY: p, NO_PROXY: 'host' }, p],
    ['http://host:8000/v1', { HTTP_PROXY: p, NO_PROXY: 'host:8000' }, undefined],
    ['http://host:8000/v1', { HTTP_PROXY: p, NO_PROXY: 'host:80' }, p],
    ['http://host/v1', { HTTP_PROXY: p, NO_PROXY: 'host:80' }, undefined],
    ['http://[::2]:8000/v1', { HTTP_PROXY: p, NO_PROXY: '::2' }, undefined],
    ['http://[::2]:8000/v1', { HTTP_PROXY: p, NO_PROXY: '[::2]:8000' }, undefined],
    ...['localhost', 'a.localhost', '127.0.0.1:8000', '127.9.9.9', '127.1', '[::1]:8000'].map(
      (host) => [`http://${host}/v1`, { HTTP_PROXY: p }, undefined] as [string, Record<string, string>, undefined],
    ),
    ['http://localhost.example/v1', { HTTP_PROXY: p }, p],
    ['http://127.0.0.1.example/v1', { HTTP_PROXY: p }, p],
  ])('%s under %j is %s', (url, environment, expected) => {
    expect(proxyFor(new URL(url), environment)).toBe(expected);
  });
});
