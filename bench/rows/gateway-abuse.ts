import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type Abuse, abuse } from '../../test/support/gateway-abuse.ts';
import type { BenchRow } from '../row.ts';

const ATTEMPTS = 64;
const SECONDS = 30;
const MAX_MB = 150;
const megabytes = (bytes: number) => Math.round(bytes / 1e6);

/** Whether agents can use the gateway against the trainer, or against each other. */
export const gatewayAbuse: BenchRow = {
  name: 'gateway-abuse',
  what: `${ATTEMPTS} attempts send gzip bombs, open bodies of 60 MB and trickles for ${SECONDS} s: memory of the trainer`,
  goal: `≤ +${MAX_MB} MB, another attempt's calls are all answered`,
  async run(say) {
    await using provider = await startProvider();
    const script = new URL('./gateway-abuse-run.ts', import.meta.url).pathname;
    const execArgv = ['--expose-gc', '--import', 'tsx'];
    const trainer = fork(script, [String(ATTEMPTS + 1), provider.url], { execArgv });
    const [{ urls }] = (await once(trainer, 'message')) as [{ urls: string[] }];
    const [honest = '', ...abused] = urls;
    await Promise.all(urls.map((url) => ask(url, 1_000))); // what it takes to answer at all is not the abuse
    trainer.send('begin');
    const [{ peak: before }] = (await once(trainer, 'message')) as [{ peak: number }];
    const ended = new AbortController();
    const kinds: readonly Abuse[] = ['gzip', 'open', 'trickle', 'valid'];
    const abusing = abused.map((url, index) => abuse(url, kinds[index % kinds.length]!, ended.signal));
    const { small, large, slowestMs } = await askOn(honest, SECONDS * 1_000);
    ended.abort();
    await Promise.all(abusing);
    trainer.send('report');
    const [{ peak }] = (await once(trainer, 'message')) as [{ peak: number }];
    trainer.send('end');
    const growth = megabytes(peak - before);
    const answered = [small, large].map(({ ok, asked }) => `${ok} of ${asked}`);
    say(`before ${megabytes(before)} MB, peak ${megabytes(peak)} MB`);
    return {
      measured: `+${growth} MB; ${answered[0]} small and ${answered[1]} large calls answered, slowest ${Math.round(slowestMs)} ms`,
      holds: growth <= MAX_MB && [small, large].every(({ ok, asked }) => ok === asked && asked > 0),
      figures: { growth, slowestMs, small: small.ok, large: large.ok },
    };
  },
};

/** An attempt that works as agents do: one call after the other, of which each tenth is large. */
async function askOn(url: string, ms: number) {
  const [small, large] = [
    { ok: 0, asked: 0 },
    { ok: 0, asked: 0 },
  ];
  let slowestMs = 0;
  const until = performance.now() + ms;
  for (let n = 1; performance.now() < until; n++) {
    const count = n % 10 === 0 ? large : small;
    const began = performance.now();
    count.asked += 1;
    if (await ask(url, count === large ? 3_000_000 : 100_000)) count.ok += 1;
    slowestMs = Math.max(slowestMs, performance.now() - began);
    await delay(50);
  }
  return { small, large, slowestMs };
}

async function ask(url: string, bytes: number): Promise<boolean> {
  const messages = [{ role: 'user', content: 'x'.repeat(bytes) }];
  const body = JSON.stringify({ model: 'some-model', messages });
  const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body }).catch(() => undefined);
  return reply?.status === 200;
}

async function startProvider() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
