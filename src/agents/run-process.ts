import { execa } from 'execa';
import { ModelCallError } from '../core/contracts/index.ts';
import type { AgentOutput, Environment } from './agent-cli.ts';
import { atProcessEnd } from './at-process-end.ts';

export type ProcessOptions = {
  readonly file: string;
  /** What the program is told that it is called; some are several programs in one. */
  readonly name?: string | undefined;
  readonly args: readonly string[];
  readonly input: string;
  readonly cwd: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Gets each printed line when it comes. */
  readonly onLine?: ((line: string) => void) | undefined;
};

/** More than any reply; a CLI that prints without end is stopped here. */
const MAX_OUTPUT_BYTES = 32 * 1024 * 1024;

function tooMuchOutput(file: string): ModelCallError {
  const message = `${file} printed more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MB`;
  return new ModelCallError(message, { isRetryable: false, hint: 'Run it by hand to see what it prints.' });
}

const hasGroups = process.platform !== 'win32';

/**
 * Runs a program to its end. An abort, and the end of this process, end it with all that it started. Throws the system's
 * error when it could not be started.
 */
export async function runProcess({
  file,
  name = file,
  args,
  signal,
  onLine,
  ...options
}: ProcessOptions): Promise<AgentOutput> {
  signal.throwIfAborted();
  const pipe = onLine === undefined ? 'pipe' : tap(onLine);
  const subprocess = execa(file, args, { ...options, ...fixedOptions, argv0: name, stdout: pipe, stderr: pipe });
  const end = () => (hasGroups ? killGroup(subprocess.pid) : subprocess.kill('SIGKILL'));
  signal.addEventListener('abort', end, { once: true });
  using _ = atProcessEnd(end);
  try {
    const { stdout, stderr, failed, isMaxBuffer, shortMessage = '', cause } = await subprocess;
    signal.throwIfAborted();
    if (subprocess.pid === undefined) throw cause;
    if (isMaxBuffer) throw tooMuchOutput(file);
    return { stdout, stderr: failed && stderr.trim() === '' ? shortMessage : stderr };
  } finally {
    signal.removeEventListener('abort', end);
    killGroup(subprocess.pid); // what the program left behind
  }
}

const fixedOptions = {
  extendEnv: false,
  detached: hasGroups, // a group of its own, so that its children can be ended with it
  reject: false,
  maxBuffer: MAX_OUTPUT_BYTES,
  encoding: 'utf8',
  windowsHide: true,
} as const;

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
