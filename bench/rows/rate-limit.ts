import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRateLimiter, openaiCompatible, withRateLimit, withRetry } from 'skillopt/models';
import type { BenchRow } from '../row.ts';

const CALLS = 3000;
const AT_ONCE = 20;
const LATENCY_MS = 50;
const SETTLING = 300;

type Counts = { readonly requests: number; readonly refused: number; readonly refusedLate: number };

/** A provider that does not say how much it takes. How much of it is used, and how often it has to refuse. */
export const rateLimit: BenchRow = {
  name: 'rate-limit',
  what: `${CALLS} calls wanted of a server that takes ${AT_ONCE} at once, ${LATENCY_MS} ms each`,
  goal: `all answered, ≥ 0.85 of its capacity, < 5 % refused after ${SETTLING}`,
  async run() {
    const options = [AT_ONCE, LATENCY_MS, SETTLING].map(String);
    const server = fork(new URL('./rate-limit-server.mjs', import.meta.url), options);
    try {
      const [port] = (await once(server, 'message')) as [number];
      const seconds = await callAll(port);
      const { requests, refused, refusedLate } = await countsOf(server);
      const capacityUsed = CALLS / seconds / (AT_ONCE / (LATENCY_MS / 1000));
      const refusedShare = refusedLate / (requests - SETTLING);
      const measured = `${capacityUsed.toFixed(3)} of capacity, ${(refusedShare * 100).toFixed(1)} % refused`;
      const holds = requests - refused === CALLS + 1 && capacityUsed >= 0.85 && refusedShare < 0.05;
      return { measured, holds, figures: { capacityUsed, refusedShare, requests, refused } };
    } finally {
      server.kill();
    }
  },
};

/** Rejects if a single call is lost. */
async function callAll(port: number): Promise<number> {
  const endpoint = openaiCompatible({ model: 'm', baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'dummy' });
  const model = withRetry(withRateLimit(endpoint, createRateLimiter()), { maxRetries: 8 });
  await endpoint.complete({ messages: [{ role: 'user', content: 'Ready?' }] }); // loads the SDK, once per process
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CALLS }, (_, index) =>
      model.complete({ messages: [{ role: 'user', content: `Capital of country ${index}?` }] }),
    ),
  );
  return (performance.now() - start) / 1000;
}

async function countsOf(server: ChildProcess): Promise<Counts> {
  server.send('counts');
  const [counts] = (await once(server, 'message')) as [Counts];
  return counts;
}
