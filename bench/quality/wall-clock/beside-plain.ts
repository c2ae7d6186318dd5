import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { loadPrompts } from '../../../src/pipeline/index.ts';
import { createWorld } from '../../../src/public/sim.ts';
import { configFor, WORLD } from './setting.ts';

const beside = (name: string) => new URL(name, import.meta.url).pathname;

type Run = { readonly ms: number; readonly calls: number };
type OwnRun = Run & { readonly cpuMs: number; readonly peakMb: number };
export type BesidePlain = { readonly ours: OwnRun; readonly plain: Run };

/**
 * The default and a plain Python trainer of the paper's protocol, one after the other, each in a process of its own, against one
 * server. The second makes as many target calls as the first did.
 */
export async function timeBesidePlain(seed: number, latencyMs: number): Promise<BesidePlain> {
  const server = fork(beside('sim-server.ts'), [String(seed), String(latencyMs)], { execArgv: ['--import', 'tsx'] });
  try {
    const [url] = (await once(server, 'message')) as [string];
    const { items, initialSkill: skill } = createWorld({ ...WORLD, seed });
    const task = { url, seed, train: items.train, val: items.val, skill };
    const own = { ...task, config: { ...configFor('default'), seed } };
    const ours = await timed<OwnRun>(server, [process.execPath, beside('train-over-http.mjs')], own);
    const given = { ...task, calls: ours.calls, prompts: loadPrompts() };
    const plain = await timed<Run>(server, ['python3', beside('plain_trainer.py')], given);
    if (plain.calls !== ours.calls) throw new Error(`${ours.calls} target calls beside ${plain.calls}`);
    return { ours, plain };
  } finally {
    server.kill();
  }
}

/** What a program says of itself, and how many target calls the server had meanwhile. */
async function timed<Said>(
  server: ChildProcess,
  [program, script]: [string, string],
  task: object,
): Promise<Said & Run> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-bench-'));
  try {
    const before = await countCalls(server);
    const child = spawn(program, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(JSON.stringify({ ...task, folder }));
    const said = (await json(child.stdout)) as Said & Run;
    return { ...said, calls: (await countCalls(server)) - before };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function countCalls(server: ChildProcess): Promise<number> {
  server.send('count');
  const [calls] = (await once(server, 'message')) as [number];
  return calls;
}
