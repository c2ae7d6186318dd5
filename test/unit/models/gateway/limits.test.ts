import { costUsd, type GatewayEnd, PRICES, startModelGateway } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { ask, chat, dialects } from './gateway-calls.ts';

const listen = { port: 0 };
const price = { input: 1, cachedInput: 1, output: 1 };

describe.each(dialects)('a limit before $name', (dialect) => {
  it('refuses the call after the last one in words that a client can show and does not repeat', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    const ends: GatewayEnd[] = [];
    const limits = { maxCalls: 2 };
    const onEnd = (reason: GatewayEnd) => ends.push(reason);
    await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, limits, onEnd });
    const replies = [];
    for (const stream of [false, true, false, true]) replies.push(await ask(gateway.url, dialect, { stream }));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 400, 400]);
    expect(await replies[2]!.json()).toMatchObject({ error: { message: expect.stringContaining('2 model calls') } });
    expect([gateway.ended(), gateway.calls(), llm.calls()]).toEqual(['turns', 2, 2]);
    expect(ends).toEqual(['turns']);
    expect(gateway.failure()).toBeUndefined();
  });
});

describe.each(dialects)('another model than that of the run, before $name', (dialect) => {
  it('is refused in words that a client can show, counted, and not asked', async () => {
    await using llm = await startFakeAgentLLM({ script: [] });
    const upstream = { baseURL: llm.url, auth: { header: 'x-api-key', value: 'the-key' } };
    await using gateway = await startModelGateway({ upstream, listen, allows: (model) => model === 'own-model' });
    const reply = await ask(gateway.url, dialect, { more: dialect.name === 'Gemini' ? { model: 'own-model' } : {} });
    expect(reply.status).toBe(400);
    expect(await reply.json()).toMatchObject({
      error: { message: expect.stringContaining('The model some-model is') },
    });
    await ask(gateway.url, dialect, { stream: true });
    expect([gateway.refused(), gateway.calls(), llm.calls()]).toEqual([{ 'some-model': 2 }, 0, 0]);
    expect([gateway.failure(), gateway.ended(), gateway.models()]).toEqual([undefined, undefined, []]);
    const own = { ...dialect, path: dialect.path.replace('some-model', 'own-model') };
    expect((await ask(gateway.url, own, { more: { model: 'own-model' } })).status).toBe(200);
  });
});

it.each([
  ['maxTokens', { maxTokens: 45 }],
  ['maxUsd', { maxUsd: 45 / 1e6 }],
])('%s is passed by no more than one call', async (_, limits) => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, limits, price });
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await ask(gateway.url, chat, { text: 'x'.repeat(n) })).status);
  const { input, output } = gateway.usage();
  expect(statuses).toEqual([200, 400, 400, 400].toSpliced(0, 1, ...Array(llm.calls()).fill(200)).slice(0, 4));
  expect(input + output).toBeGreaterThanOrEqual(45);
  expect(((input + output) / llm.calls()) * (llm.calls() - 1)).toBeLessThan(45);
  expect(gateway.ended()).toBe('budget');
});

it('lets no more than maxCalls calls pass when all come at once', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  llm.hang(30);
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, limits: { maxCalls: 3 } });
  const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => ask(gateway.url, chat, { text: `${n}` })));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
  expect(llm.calls()).toBe(3);
  expect(gateway.usage()).toEqual(llm.usage());
});

it('lets no call of a model pass whose price is not known when dollars are limited, and says so', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, limits: { maxUsd: 1 } });
  expect((await ask(gateway.url, chat)).status).toBe(400);
  expect(llm.calls()).toBe(0);
  expect(gateway.failure()).toMatchObject({ isFatal: true, message: /some-model is not known/, hint: /price/ });
});

it('counts dollars by the listed price of the model that is asked', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, limits: { maxUsd: 1 } });
  expect((await ask(gateway.url, chat, { more: { model: 'gpt-4o' } })).status).toBe(200);
  expect(gateway.costUsd()).toBeCloseTo(costUsd(gateway.usage(), PRICES['gpt-4o']!), 12);
});
