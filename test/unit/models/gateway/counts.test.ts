import { once } from 'node:events';
import { gzipSync } from 'node:zlib';
import { startModelGateway } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import {
  anthropic,
  ask,
  chat,
  data,
  dialects,
  eventStream,
  gemini,
  responses,
  startProvider,
} from './gateway-calls.ts';

const listen = { port: 0 };
const auth = { header: 'x-api-key', value: 'the-key-of-this-account' };
const price = { input: 3, cachedInput: 0.3, output: 15 };

describe.each(dialects)('the gateway before $name', (dialect) => {
  it.each([true, false])(
    'counts exactly what the provider did (streamed: %s), and passes the answer on',
    async (stream) => {
      await using llm = await startFakeAgentLLM({ script: [{ text: 'Bonjour' }] });
      await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen, price });
      const tools = [{ name: 'Bash', functionDeclarations: [{ name: 'Bash' }] }];
      for (const text of ['one', 'a longer question', '…and one with “other” bytes'])
        expect(await (await ask(gateway.url, dialect, { stream, text, more: { tools } })).text()).toContain('Bonjour');
      expect(gateway.usage()).toEqual(llm.usage());
      expect(gateway.calls()).toBe(3);
      const { input, cached, output } = llm.usage();
      expect(gateway.costUsd()).toBeCloseTo(((input - cached) * 3 + cached * 0.3 + output * 15) / 1e6, 12);
      expect(gateway.models()).toEqual(['some-model']);
      expect(gateway.failure()).toBeUndefined();
    },
  );

  it('signs in with its own key in place of the caller’s', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
    await ask(gateway.url, dialect, { stream: true });
    expect(llm.requests[0]?.headers['x-api-key']).toBe(auth.value);
    expect(JSON.stringify(llm.requests)).not.toContain('of-the-caller');
  });
});

it('passes the sign-in of the caller on when it has no key', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen });
  await ask(gateway.url, gemini);
  expect(llm.requests[0]).toMatchObject({ headers: { authorization: 'Bearer of-the-caller' } });
  expect(llm.requests[0]?.path).toContain('key=of-the-caller');
});

it('passes counts of tokens and lists of models on, uncounted, and nothing else that its key could pay for', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
  const post = (path: string) => fetch(`${gateway.url}${path}`, { method: 'POST', body: '{}' });
  expect(await (await post('/v1/messages/count_tokens')).json()).toEqual({ input_tokens: 11 });
  expect((await fetch(`${gateway.url}/v1/models`)).status).toBe(200);
  const passed = llm.requests.length;
  for (const path of ['/v1/messages/batches', '/v1/embeddings', '/v1/files', '/v1/models%2f..%2f../v1/messages'])
    expect((await post(path)).status).toBe(404);
  expect((await fetch(`${gateway.url}/v1/files`)).status).toBe(404);
  expect(llm.requests).toHaveLength(passed);
  expect(gateway.calls()).toBe(0);
});

it('does not answer those who do not know its address', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
  expect((await ask(new URL(gateway.url!).origin, chat)).status).toBe(404);
  expect(llm.requests).toEqual([]);
});

it('passes each chunk on when it comes', async () => {
  const gates: (() => void)[] = [];
  const provider = await startProvider(async (_, response) => {
    response.writeHead(200, eventStream);
    for (const n of [1, 2, 3]) {
      response.write(data({ type: 'content_block_delta', n }));
      await new Promise<void>((resolve) => gates.push(resolve));
    }
    response.end(data({ type: 'message_stop' }));
  });
  await using _provider = provider;
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, listen });
  const reply = await ask(gateway.url, anthropic, { stream: true });
  const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (const n of [1, 2, 3]) {
    expect((await reader.read()).value).toContain(`"n":${n}`); // the next is sent only after this one has arrived
    gates.shift()!();
  }
  expect((await reader.read()).value).toContain('message_stop');
});

it('has Chat Completions count streams of clients that do not ask for it', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url, auth }, listen });
  await (await ask(gateway.url, chat, { stream: true, more: { stream_options: { other: 1 } } })).text();
  await (await ask(gateway.url, chat)).text();
  expect(JSON.parse(llm.requests[0]!.text)).toMatchObject({ stream_options: { other: 1, include_usage: true } });
  expect(JSON.parse(llm.requests[1]!.text)).not.toHaveProperty('stream_options');
});

it('counts what was told before a stream broke off, and remembers the failure', async () => {
  await using provider = await startProvider((_, response) => {
    response.writeHead(200, eventStream);
    const usage = { input_tokens: 70, cache_creation_input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 1 };
    response.write(
      data({ type: 'message_start', message: { usage } }, { type: 'message_delta', usage: { output_tokens: 4 } }),
    );
    setTimeout(() => response.destroy(), 50);
  });
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, listen });
  await expect(ask(gateway.url, anthropic, { stream: true }).then((reply) => reply.text())).rejects.toThrow();
  expect(gateway.usage()).toEqual({ input: 100, cached: 10, output: 4, reasoning: 0 });
  expect(gateway.failure()).toMatchObject({ isRetryable: true, isFatal: false });
});

it('reads packed answers and packed requests', async () => {
  const whole = { choices: [], usage: { prompt_tokens: 5, completion_tokens: 6 } };
  await using provider = await startProvider((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(gzipSync(JSON.stringify(whole)));
  });
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, listen });
  const body = gzipSync(JSON.stringify({ ...chat.body('hi'), tools: [{ function: { name: 'bash' } }] }));
  const headers = { 'content-encoding': 'gzip' };
  const reply = await fetch(`${gateway.url}${chat.path}`, { method: 'POST', headers, body });
  expect(await reply.json()).toEqual(whole);
  expect(gateway.usage()).toMatchObject({ input: 5, output: 6 });
  expect(gateway.tools()).toEqual(['bash']);
});

it('ends the call of a caller who leaves, which is nobody’s failure', async () => {
  let left: Promise<unknown> | undefined;
  await using provider = await startProvider((_, response) => {
    left = once(response, 'close');
    response.writeHead(200, eventStream);
    response.write(data({ type: 'response.created' }));
  });
  await using gateway = await startModelGateway({ upstream: { baseURL: provider.url, auth }, listen });
  const reply = await ask(gateway.url, responses, { stream: true });
  await reply.body!.cancel();
  await left;
  expect(gateway.failure()).toBeUndefined();
});
