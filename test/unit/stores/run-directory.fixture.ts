import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { RunEvent } from '../../../src/core/run/index.ts';
import { programArgs } from '../../support/compiled.ts';

/** A folder that is gone when the test is over, with what was written beside it. */
export async function temporaryDirectory() {
  const around = await mkdtemp(join(tmpdir(), 'skillopt-stores-'));
  const path = join(around, 'folder');
  await mkdir(path);
  return { path, [Symbol.asyncDispose]: () => rm(around, { recursive: true, force: true }) };
}

export function stepEnd(step: number): RunEvent {
  return { type: 'step-end', step, action: 'accept', at: '2026-01-01T00:00:00.000Z', ms: step, usage: {} };
}

/** A real process that runs a script. `ask` writes a line and waits for the next line of the answer. */
export function startChild(script: URL, ...args: string[]) {
  const child = spawn(process.execPath, [...programArgs(script), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exited = once(child, 'exit');
  const nextLine = async () => (await lines.next()).value as string | undefined;
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  const ask = (line: string) => {
    child.stdin.write(`${line}\n`);
    return nextLine();
  };
  return { pid: child.pid!, nextLine, ask, kill, [Symbol.asyncDispose]: kill };
}
