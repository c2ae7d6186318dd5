import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluateSkill, openaiCompatible, SimpleQAEnv } from 'skillopt';
import { openCaches } from '../../src/stores/index.ts';
import { type BenchRow, median } from '../row.ts';

const CALLS = 2000;
const AT_ONCE = 64;
const PAIRS = 7;
const WARM_UP = 1000;
const skill = `# Capitals\n\n${'Answer with the name of the city alone. '.repeat(40)}\n`;

/** Rollouts through everything we wrap round a model, against a bare client that sends the same bodies. */
export function loopback(latencyMs: number, share: number): BenchRow {
  return {
    name: 'loopback',
    what: `${CALLS} rollouts over loopback HTTP, ${AT_ONCE} at a time, ${latencyMs} ms`,
    goal: `≥ ${share} of a bare client`,
    async run(say) {
      const server = fork(new URL('./loopback-server.mjs', import.meta.url), [String(latencyMs)]);
      try {
        const [port] = (await once(server, 'message')) as [number];
        const figures = await compare(port, say);
        const ratio = median(figures.ratios);
        const measured = `${ratio.toFixed(3)} (${median(figures.ours).toFixed(0)} of ${median(figures.bare).toFixed(0)} calls/s)`;
        return { measured, holds: ratio >= share, figures: { ratio, ...figures } };
      } finally {
        server.kill();
      }
    },
  };
}

async function compare(port: number, say: (progress: string) => void) {
  // Both compiled by the engine before anything is compared: the first thousand calls of a process are slower.
  await bareClient(port, WARM_UP);
  await ourClient(port, WARM_UP);
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let pair = 1; pair <= PAIRS; pair++) {
    bare.push(await bareClient(port, CALLS));
    ours.push(await ourClient(port, CALLS));
    say(`pair ${pair} of ${PAIRS}: ${ours.at(-1)!.toFixed(0)} of ${bare.at(-1)!.toFixed(0)} calls/s`);
  }
  return { ours, bare, ratios: ours.map((rate, pair) => rate / bare[pair]!) };
}

async function ourClient(port: number, calls: number): Promise<number> {
  const items = Array.from({ length: calls }, (_, i) => ({
    id: `${i}`,
    question: `Capital of country ${i}?`,
    answers: ['Paris'],
  }));
  const env = new SimpleQAEnv({ trainItems: [], valItems: [], testItems: items });
  const target = openaiCompatible({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy' });
  const directory = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  const caches = await openCaches(directory);
  try {
    const start = performance.now();
    const { evaluation } = await evaluateSkill({
      env,
      skill,
      split: 'test',
      target,
      caches,
      config: { workers: AT_ONCE },
    });
    if (evaluation.hard !== 1) throw new Error(`every answer is right, but the score is ${evaluation.hard}`);
    return (calls / (performance.now() - start)) * 1000;
  } finally {
    caches.close();
    await rm(directory, { recursive: true });
  }
}

async function bareClient(port: number, calls: number): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < calls) await bareCall(agent, port, next++);
    }),
  );
  const rate = (calls / (performance.now() - start)) * 1000;
  agent.destroy();
  return rate;
}

function bareCall(agent: http.Agent, port: number, index: number): Promise<unknown> {
  const messages = [
    { role: 'system', content: skill },
    { role: 'user', content: `Question: Capital of country ${index}?` },
  ];
  const body = JSON.stringify({ model: 'm', messages });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request({
      agent,
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text)));
    });
    request.end(body);
  });
}
