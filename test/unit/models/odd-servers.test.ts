import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createBudget, openaiCompatible, startModelGateway, withBudget } from 'skillopt/models';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { ask, chat, startProvider } from './gateway/gateway-calls.ts';

const request = { messages: [{ role: 'user' as const, content: 'hello' }] };
const completion = (usage: object, content = 'hi') => ({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm', usage },
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
});

describe('counts of tokens as texts', () => {
  const usage = { prompt_tokens: '12', completion_tokens: '3', prompt_tokens_details: { cached_tokens: '4' } };

  it('are read, and the reply is not thrown away', async () => {
    const content = 'It says "prompt_tokens": "99".';
    await using server = await startFakeLLM([{ content, usage: { ...usage, total_tokens: '15' } }]);
    const reply = await openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request);
    expect(reply).toMatchObject({ text: content, usage: { input: 12, cached: 4, output: 3 } });
  });

  it('are counted by the gateway', async () => {
    await using provider = await startProvider((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(completion(usage)));
    });
    await using gateway = await startModelGateway({ upstream: { baseURL: provider.url }, listen: { port: 0 } });
    await ask(gateway.url, chat);
    expect(gateway.usage()).toMatchObject({ input: 12, cached: 4, output: 3 });
  });
});

it('reads the texts of a reply in parts behind a byte order mark, without the thoughts among them', async () => {
  const parts = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] },
    { type: 'text', text: 'Good ' },
    { type: 'output_text', text: 'day' },
  ];
  const body = `\uFEFF${JSON.stringify({ choices: [{ message: { content: parts }, finish_reason: 'stop' }] })}`;
  await using server = await startFakeLLM([{ body }]);
  const reply = await openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request);
  expect(reply).toMatchObject({ text: 'Good day', finishReason: 'stop' });
});

/** A server that resets every connection at its second request, before it has answered that. */
async function startForgetful() {
  const seen = new WeakMap<Socket, number>();
  const resets: Socket[] = [];
  const server = createServer((incoming, response) => {
    const { socket } = incoming;
    seen.set(socket, (seen.get(socket) ?? 0) + 1);
    if (seen.get(socket)! > 1) {
      resets.push(socket);
      return void socket.resetAndDestroy();
    }
    incoming.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(completion({ prompt_tokens: 3, completion_tokens: 2 })));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    resets,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

describe('a connection that was kept open, and is reset when it is used again', () => {
  it('is replaced by a new one, and the call is counted once', async () => {
    await using server = await startForgetful();
    const budget = createBudget({ maxCalls: 3 });
    const model = withBudget(openaiCompatible({ model: 'm', baseURL: `${server.url}/v1` }), budget, {
      countTokens: () => 1,
    });
    for (let call = 0; call < 3; call++) expect((await model.complete(request)).text).toBe('hi');
    expect(server.resets.length).toBeGreaterThan(0);
    expect(budget.spent().calls).toBe(3);
  });

  it('does not cost a further try of the gateway', async () => {
    await using server = await startForgetful();
    await using gateway = await startModelGateway({
      ...{ upstream: { baseURL: server.url }, listen: { port: 0 } },
      retry: { maxRetries: 0 },
    });
    for (let call = 0; call < 3; call++) expect((await ask(gateway.url, chat)).status).toBe(200);
    expect(server.resets.length).toBeGreaterThan(0);
    expect(gateway.failure()).toBeUndefined();
  });

  it('fails on a new connection as any call does', async () => {
    await using server = await startFakeLLM([{ destroy: true }, 'hi']);
    const call = openaiCompatible({ model: 'm', baseURL: server.baseURL }).complete(request);
    await expect(call).rejects.toThrow('broke off the connection');
    expect(server.requests).toHaveLength(1);
  });
});

describe('a server that wants a key', () => {
  it.each([
    ['none was sent', {}, /^No key was sent to .*apiKeyEnv: MY_KEY/],
    [
      'another was sent',
      { apiKey: 'some-key', apiKeyVariable: 'FAR_KEY' },
      /^Check FAR_KEY, .* apiKeyEnv names another/,
    ],
  ])('is told apart: %s', async (_, key, hint) => {
    await using server = await startFakeLLM([{ status: 401, content: 'no' }]);
    const call = openaiCompatible({ model: 'm', baseURL: server.baseURL, ...key }).complete(request);
    await expect(call).rejects.toMatchObject({ status: 401, hint: expect.stringMatching(hint) });
  });
});
