import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, median } from '../row.ts';

const TIMES = 10;
const cli = new URL('../../.cache/package/bin/skillopt.mjs', import.meta.url).pathname;

/** Ours reads stdin as the yardstick does, so that both wait for a first line and answer it. */
const ECHO = "process.stdin.once('data', () => process.stdout.write('{}\\n'))";

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

/** How long an agent waits for a server that it starts: some take no tools from one that is late. */
export const mcpStart: BenchRow = {
  name: 'mcp-start',
  what: 'skillopt mcp: from its start to the first byte of the answer to initialize',
  goal: '≤ 250 ms, the fastest of ten',
  async run() {
    const bare: number[] = [];
    const ours: number[] = [];
    const folder = mkdtempSync(join(tmpdir(), 'skillopt-bench-'));
    for (let i = 0; i < TIMES; i++) {
      bare.push(await timeFirstByte(['-e', ECHO], folder));
      ours.push(await timeFirstByte([cli, 'mcp'], folder));
    }
    rmSync(folder, { recursive: true });
    const fastest = Math.min(...ours);
    const shown = (times: readonly number[]) =>
      `${Math.min(...times).toFixed(0)} ms, median ${median(times).toFixed(0)} ms`;
    const measured = `${shown(ours)} (node alone: ${shown(bare)})`;
    return { measured, holds: fastest <= 250, figures: { fastest, median: median(ours), ours, bare } };
  },
};

async function timeFirstByte(args: readonly string[], cwd: string): Promise<number> {
  const start = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
  const ended = new Promise((resolve) => child.on('close', resolve));
  const tookMs = await new Promise<number>((resolve, reject) => {
    child.stdout.once('data', () => resolve(performance.now() - start));
    void ended.then((code) => reject(new Error(`node ${args.join(' ')} ended with ${code} and gave no answer`)));
  });
  child.stdin.end();
  await ended;
  return tookMs;
}
