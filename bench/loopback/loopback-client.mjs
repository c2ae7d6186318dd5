// The package as it is installed, in a process of its own, beside a bare client that sends the same bodies to the same server.
// Prints the calls a second of every pair as a line of JSON.
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluateSkill, openaiCompatible, runDirectory, SimpleQAEnv } from 'skillopt';

const AT_ONCE = 64;
const WARM_UP = 1000;
const [port, calls, pairs] = process.argv.slice(2).map(Number);
const skill = `# Capitals\n\n${'Answer with the name of the city alone. '.repeat(40)}\n`;

// Both compiled by the engine before anything is compared: the first thousand calls of a process are slower.
await bareClient(WARM_UP);
await ourClient(WARM_UP);
for (let pair = 0; pair < pairs; pair++) {
  const bare = await bareClient(calls);
  console.log(JSON.stringify({ bare, ours: await ourClient(calls) }));
}

async function ourClient(count) {
  const items = Array.from({ length: count }, (_, i) => ({
    id: `${i}`,
    question: `Capital of country ${i}?`,
    answers: ['Paris'],
  }));
  const env = new SimpleQAEnv({ trainItems: [], valItems: [], testItems: items });
  const target = openaiCompatible({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy' });
  const directory = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  const run = await runDirectory(directory).open();
  try {
    const start = performance.now();
    const { evaluation } = await evaluateSkill({
      ...{ env, skill, split: 'test', target, caches: run.caches },
      config: { workers: AT_ONCE },
    });
    if (evaluation.hard !== 1) throw new Error(`every answer is right, but the score is ${evaluation.hard}`);
    return (count / (performance.now() - start)) * 1000;
  } finally {
    await run[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  }
}

async function bareClient(count) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let next = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await bareCall(agent, next++);
    }),
  );
  const rate = (count / (performance.now() - start)) * 1000;
  agent.destroy();
  return rate;
}

function bareCall(agent, index) {
  const messages = [
    { role: 'system', content: skill },
    { role: 'user', content: `Question: Capital of country ${index}?` },
  ];
  const body = JSON.stringify({ model: 'm', messages });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const request = http.request({
      ...{ agent, port, headers, host: '127.0.0.1' },
      ...{ method: 'POST', path: '/v1/chat/completions' },
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
