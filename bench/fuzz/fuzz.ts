import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { TextFunction } from './text-functions.ts';

type Worst = { readonly slot: number | 'all'; readonly ms: number; readonly text: string };
/** `problem`: it cannot be called. `stopped`: it refuses a plain text, since it needs a file, a process or another value. */
export type Answer = { readonly worst?: Worst; readonly problem?: string; readonly stopped?: string };

const CHILD = fileURLToPath(new URL('./fuzz-child.ts', import.meta.url));

/** A function that does not come back within this time, with all its texts, hangs. */
const LONGEST_MS = 180_000;

/** Asks a process of its own, which can be ended, about one function after the other. */
export function openFuzzer() {
  const folder = mkdtempSync(join(tmpdir(), 'skillopt-fuzz-'));
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = fork(CHILD, {
      cwd: folder,
      execArgv: ['--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      serialization: 'advanced',
    });
    await once(started, 'message');
    return started;
  };
  return {
    async ask(subject: TextFunction, { isPlain = false } = {}): Promise<Answer> {
      child ??= await start();
      const controller = new AbortController();
      child.send({ subject, isPlain });
      const answer: Answer = await Promise.race<Answer>([
        once(child, 'message', controller).then(([message]) => message as Answer),
        once(child, 'exit', controller).then(() => ({ problem: 'it ended the process' })),
        delay(LONGEST_MS, { worst: { slot: 'all', ms: LONGEST_MS, text: 'hangs' } } as const, controller),
      ]).finally(() => controller.abort());
      if (answer.problem === 'it ended the process' || answer.worst?.text === 'hangs') {
        child.kill('SIGKILL');
        child = undefined;
      }
      return answer;
    },
    [Symbol.dispose]() {
      child?.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
