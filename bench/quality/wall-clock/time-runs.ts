import { spawn } from 'node:child_process';
import { json } from 'node:stream/consumers';
import { programArgs } from '../../../test/support/compiled.ts';
import type { Latency } from './setting.ts';
import type { Task, Times, Training } from './sides-run.ts';

/** The rounds of each run, and how long it takes. */
export async function timeRuns(runs: readonly Training[], { ms, isTogether = false }: Latency): Promise<Times> {
  const program = new URL('sides-run.ts', import.meta.url);
  const child = spawn(process.execPath, programArgs(program), { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify({ runs, latencyMs: ms, isTogether } satisfies Task));
  return (await json(child.stdout)) as Times;
}
