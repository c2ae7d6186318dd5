import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type BenchRow, median } from '../row.ts';

const CALLS = 2000;
const PAIRS = 7;

/** Rollouts through everything we wrap round a model, against a bare client that sends the same bodies. */
export function loopback(latencyMs: number, share: number): BenchRow {
  return {
    name: 'loopback',
    what: `${CALLS} rollouts over loopback HTTP, 64 at a time, ${latencyMs} ms`,
    goal: `≥ ${share} of a bare client`,
    async run(say) {
      const server = fork(new URL('./loopback-server.mjs', import.meta.url), [String(latencyMs)]);
      try {
        const [port] = (await once(server, 'message')) as [number];
        const pairs = await compare(port, say);
        const [ours, bare] = [pairs.map((pair) => pair.ours), pairs.map((pair) => pair.bare)];
        const ratio = median(ours.map((rate, pair) => rate / bare[pair]!));
        const measured = `${ratio.toFixed(3)} (${median(ours).toFixed(0)} of ${median(bare).toFixed(0)} calls/s)`;
        return { measured, holds: ratio >= share, figures: { ratio, ours, bare } };
      } finally {
        server.kill();
      }
    },
  };
}

type Pair = { readonly ours: number; readonly bare: number };

/** By plain Node, since the tool that runs these sources makes them slower than the package is. */
async function compare(port: number, say: (progress: string) => void): Promise<Pair[]> {
  const client: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL('./loopback-client.mjs', import.meta.url)), ...[port, CALLS, PAIRS].map(String)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const closed = once(client, 'close');
  const pairs: Pair[] = [];
  for await (const line of createInterface({ input: client.stdout! })) {
    const pair = JSON.parse(line) as Pair;
    pairs.push(pair);
    say(`pair ${pairs.length} of ${PAIRS}: ${pair.ours.toFixed(0)} of ${pair.bare.toFixed(0)} calls/s`);
  }
  const [code] = await closed;
  if (code !== 0 || pairs.length !== PAIRS)
    throw new Error(`the client ended with ${code} after ${pairs.length} pairs`);
  return pairs;
}
