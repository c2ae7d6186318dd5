import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Recipe } from './recipe.ts';
import type { TextFunction } from './text-functions.ts';

/** Which of the texts of a call is hostile. `all` are, and share the bytes. */
export type Slot = number | 'all';
/** The slowest call that was found, and its CPU time. */
export type Worst = {
  readonly slot: Slot;
  readonly ms: number;
  readonly recipe: Recipe;
  /** Texts of a call for which there was no time. */
  readonly unsearched?: number;
};
/** `plain`: only whether it can be called. `again`: a call that was found slow. */
export type Question = {
  readonly subject: TextFunction;
  readonly what: 'plain' | 'search' | { readonly again: Worst };
};
/** `problem`: it cannot be called. `stopped`: it refuses a plain text, since it needs a file, a process or another value. */
export type Answer = { readonly worst?: Worst; readonly problem?: string; readonly stopped?: string };

const CHILD = fileURLToPath(new URL('./fuzz-child.ts', import.meta.url));

/** A function that does not come back from one of its texts within this time hangs. */
const LONGEST_MS = 60_000;

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
  const end = () => {
    child?.kill('SIGKILL');
    child = undefined;
  };
  const askOnce = async (question: Question) => {
    child ??= await start();
    const answer = await answerOf(child, question);
    if (answer.isLost) end();
    return answer;
  };
  return {
    /** Twice at most: what other functions left running may have kept the process busy. */
    async ask(question: Question): Promise<Answer> {
      const first = await askOnce(question);
      return first.isLost ? askOnce(question) : first;
    },
    /** The next question is asked in a new process. */
    end,
    [Symbol.dispose]() {
      end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answerOf(child: ChildProcess, question: Question): Promise<Answer & { readonly isLost?: boolean }> {
  return new Promise((resolve) => {
    let trying: Worst | undefined;
    let timer: NodeJS.Timeout | undefined;
    const finish = (answer: Answer & { readonly isLost?: boolean }) => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(answer);
    };
    const lose = (problem: string) =>
      finish({ isLost: true, ...(trying ? { worst: { ...trying, ms: LONGEST_MS }, stopped: problem } : { problem }) });
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => lose(`it did not come back in ${LONGEST_MS / 1000} s`), LONGEST_MS);
    };
    child.on('exit', () => lose('it ended the process'));
    child.on('message', (message: Answer | { readonly trying: Worst }) => {
      if (!('trying' in message)) return finish(message);
      trying = message.trying;
      wait();
    });
    wait();
    child.send(question);
  });
}
