import type { ChildProcess } from 'node:child_process';
import { execa } from 'execa';
import type { SandboxResult } from '../core/sandbox.ts';

export type CommandOptions = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
};

/** More than any verdict. What prints more is read to here. */
const MAX_OUTPUT = 1_000_000;

/** A process that left its group may hold the output open for ever. What was printed is there by then. */
const DRAIN_MS = 200;

function closeOutput({ stdout, stderr }: Pick<ChildProcess, 'stdout' | 'stderr'>): void {
  stdout?.destroy();
  stderr?.destroy();
}

const hasGroups = process.platform !== 'win32';

/** Runs a program to its end or to its time, whichever comes first, and ends all that it started in its group. */
export async function runCommand({
  command,
  signal,
  stdin,
  ...options
}: CommandOptions): Promise<Omit<SandboxResult, 'toolsCalled'>> {
  signal?.throwIfAborted();
  const [file = '', ...args] = command;
  const input = stdin === undefined ? { stdin: 'ignore' as const } : { input: stdin };
  const subprocess = execa(file, args, { ...fixedOptions, ...input, cwd: options.cwd, env: options.env });
  let timedOut = false;
  const end = () => {
    killGroup(subprocess.pid);
    setTimeout(() => closeOutput(subprocess), DRAIN_MS).unref();
  };
  subprocess.once('exit', end);
  const timer = setTimeout(() => {
    timedOut = true;
    end();
  }, options.timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  process.once('exit', end);
  try {
    const { exitCode, signal: endedBy, stdout, stderr, cause } = await subprocess;
    signal?.throwIfAborted();
    if (subprocess.pid === undefined) throw cause;
    return { exitCode, signal: endedBy, timedOut, stdout, stderr };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    process.removeListener('exit', end);
    end(); // what it left behind
  }
}

const fixedOptions = {
  extendEnv: false,
  detached: hasGroups, // a group of its own, so that its children can be ended with it
  reject: false,
  maxBuffer: MAX_OUTPUT,
  encoding: 'utf8',
  windowsHide: true,
} as const;

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(hasGroups ? -pid : pid, 'SIGKILL');
  } catch {
    // nobody is left
  }
}
