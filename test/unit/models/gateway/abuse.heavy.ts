import { setTimeout as delay } from 'node:timers/promises';
import { startModelGateway } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { type Abuse, abuse, makeBomb } from '../../../support/gateway-abuse.ts';
import { ask, chat } from './gateway-calls.ts';

it('gateways that agents abuse refuse it, and another attempt is answered meanwhile, in small calls and large ones', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  const start = () => startModelGateway({ upstream: { baseURL: llm.url }, listen: { port: 0 } });
  await using honest = await start();
  const kinds: readonly Abuse[] = ['gzip', 'open', 'trickle', 'gzip', 'open', 'trickle'];
  const abused = await Promise.all(kinds.map(start));
  await makeBomb();
  const ended = new AbortController();
  const abusing = abused.map(({ url }, index) => abuse(url!, kinds[index]!, ended.signal));
  const statuses = [];
  for (let n = 0; n < 20; n++) {
    statuses.push((await ask(honest.url, chat, { text: 'x'.repeat(n % 5 === 0 ? 3_000_000 : 1_000) })).status);
    await delay(100);
  }
  ended.abort();
  const seen = await Promise.all(abusing);
  for (const gateway of abused) await gateway[Symbol.asyncDispose]();
  expect(statuses).toEqual(Array(20).fill(200));
  expect(llm.calls()).toBe(20);
  expect(abused.map((gateway) => [gateway.calls(), gateway.failure()])).toEqual(kinds.map(() => [0, undefined]));
  expect(new Set(seen.flatMap(Object.keys))).not.toContain('200');
  expect(seen[0]).toHaveProperty('413');
}, 200_000);
