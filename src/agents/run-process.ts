import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModelCallError } from '../core/contracts/index.ts';
import type { AgentOutput, Environment } from './agent-cli.ts';

type ProcessOptions = {
  readonly file: string;
  /** The name that the program sees as its own; some are several programs in one. */
  readonly name?: string | undefined;
  readonly args: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Called with each line when it is printed. */
  readonly onLine?: ((line: string) => void) | undefined;
  /** A folder of logs, whose lines `onLine` gets too. */
  readonly logs?: string | undefined;
};

/** More than any reply. A CLI that prints without end is stopped here. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

const hasGroups = process.platform !== 'win32';

const fixedOptions = {
  extendEnv: false,
  detached: hasGroups, // a group of its own, so that its children can be ended with it
  reject: false,
  maxBuffer: MAX_OUTPUT_BYTES,
  encoding: 'utf8',
  windowsHide: true,
} as const;

/**
 * Runs a program to its end. An abort, and the end of this process, end it with all that it started. Throws the system's
 * error when it could not be started.
 */
export async function runProcess(options: ProcessOptions): Promise<AgentOutput> {
  const { file, name = file, args, signal, onLine, logs, ...rest } = options;
  const { execa } = await import('execa');
  signal.throwIfAborted();
  const pipe = onLine === undefined ? 'pipe' : tap(onLine);
  const subprocess = execa(file, args, { ...rest, ...fixedOptions, argv0: name, stdout: pipe, stderr: pipe });
  const end = () => (hasGroups ? killGroup(subprocess.pid) : subprocess.kill('SIGKILL'));
  signal.addEventListener('abort', end, { once: true });
  using _ending = atProcessEnd(end);
  using _logs = logs === undefined || onLine === undefined ? undefined : followLogs(logs, onLine);
  try {
    const { stdout, stderr, failed, isMaxBuffer, shortMessage = '', cause } = await subprocess;
    signal.throwIfAborted();
    if (subprocess.pid === undefined) throw cause;
    if (isMaxBuffer) {
      const message = `${file} printed more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`;
      throw new ModelCallError(message, { isRetryable: false, hint: 'Run it by hand to see what it prints.' });
    }
    return { stdout, stderr: failed && stderr.trim() === '' ? shortMessage : stderr };
  } finally {
    signal.removeEventListener('abort', end);
    killGroup(subprocess.pid); // what the program left behind
  }
}

function tap(onLine: (line: string) => void) {
  return function* (line: unknown) {
    onLine(String(line));
    yield line;
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined || !hasGroups) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // nobody is left
  }
}

const LOGS_EVERY_MS = 250;

/** Hands over the lines that a program appends to the files in `folder`, until disposed. */
function followLogs(folder: string, onLine: (line: string) => void): Disposable {
  const linesRead = new Map<string, number>();
  const timer = setInterval(() => {
    for (const path of filesIn(folder)) {
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1); // the last one may be incomplete
      const fresh = lines.slice(linesRead.get(path) ?? 0);
      linesRead.set(path, lines.length);
      fresh.forEach(onLine);
    }
  }, LOGS_EVERY_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Links are left out: one CLI keeps a link to its newest log beside it. */
function filesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, name));
  } catch {
    return []; // not made yet
  }
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

const pending = new Set<() => void>();

/**
 * Calls `cleanup` when this process ends before it is disposed: by an exit, or by a signal with no other listener. The last
 * one added is called first. Only `kill -9` leaves things behind.
 */
export function atProcessEnd(cleanup: () => void): Disposable {
  if (pending.size === 0) listen('on');
  pending.add(cleanup);
  return {
    [Symbol.dispose]() {
      pending.delete(cleanup);
      if (pending.size === 0) listen('off');
    },
  };
}

function listen(how: 'on' | 'off'): void {
  process[how]('exit', cleanUp);
  for (const signal of SIGNALS) process[how](signal, endBy);
}

/** Other listeners decide what a signal means. Without any, this process ends by the signal. */
function endBy(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  cleanUp();
  listen('off');
  process.kill(process.pid, signal);
}

function cleanUp(): void {
  for (const cleanup of [...pending].reverse()) {
    try {
      cleanup();
    } catch {
      // the others are still called
    }
  }
}
