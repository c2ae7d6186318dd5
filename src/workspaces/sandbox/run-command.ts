import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import { execa } from 'execa';
import type { ResourceLimits, SandboxRequest, SandboxResult } from '../../core/contracts/index.ts';
import type { LimitWatch } from '../limits/watch-limits.ts';
import { atExit } from '../processes/owner.ts';
import type { ProcessTree } from '../processes/process-tree.ts';

type CommandResult = Omit<SandboxResult, 'toolsCalled'>;

type StartedCommand = {
  readonly pid: number;
  /** What it wrote into its fourth stream, if it has one, once that is closed. */
  readonly told: Promise<string>;
};

export type CommandOptions = Pick<
  SandboxRequest,
  'command' | 'stdin' | 'timeoutMs' | 'signal' | 'onLine' | 'maxOutputBytes'
> & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasFourthStream?: boolean;
  readonly treeOf: (started: StartedCommand) => ProcessTree;
  /** Gets the processes to watch, and what to call when a limit is exceeded. */
  readonly watch?: (tree: ProcessTree, exceeded: (limit: keyof ResourceLimits) => void) => LimitWatch;
};

/** More than any verdict. */
const MAX_OUTPUT = 1_000_000;

/** How long a command may clean up once it is asked to end. */
const GRACE_MS = 2_000;

/** A process that cannot be ended may keep the output open for ever. What was printed has arrived by then. */
const DRAIN_MS = 200;

/** Runs a program to its end, its time-out or its limits, whichever comes first, and ends all that it started. */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const { signal, timeoutMs, onLine, maxOutputBytes: maxBytes = MAX_OUTPUT } = options;
  signal?.throwIfAborted();
  const child = start(options);
  if (child.pid === undefined) throw (await child).cause;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const fourth = child.stdio[3] as Readable | undefined;
  const tree = options.treeOf({ pid: child.pid, told: fourth ? text(fourth) : Promise.resolve('') });
  using _ = atExit(() => tree.kill());
  const ending = endingOf(tree, ended);
  const output = keepOutput(child.stdout, { maxBytes, onLine: onLine && ending.guard(onLine) });
  const errors = keepOutput(child.stderr, { maxBytes });
  using _time = after(timeoutMs, () => ending.end('time'));
  using _abort = whenAborted(signal, () => ending.end('abort'));
  const watch = options.watch?.(tree, (limit) => ending.end(limit));
  await ended;
  await tree.gone(); // also what it left behind
  const late = await watch?.stop();
  using _drain = after(DRAIN_MS, () => closeAll(child));
  const { exitCode, signal: endedBy } = await child;
  output.finish();
  signal?.throwIfAborted();
  ending.rethrow();
  const texts = { stdout: output.text(), stderr: errors.text() };
  return { ...endOf(ending.why() ?? late, exitCode, endedBy), ...texts };
}

/** If we ended the command, the result says why. */
function endOf(why: Why | undefined, exitCode: number | undefined, signal: string | undefined) {
  if (why === undefined) return { exitCode, signal, timedOut: false };
  if (why === 'time' || why === 'abort')
    return { exitCode: undefined, signal: signal ?? 'SIGTERM', timedOut: why === 'time' };
  return { exitCode: undefined, signal: signal ?? 'SIGKILL', timedOut: false, exceeded: why };
}

type Why = 'time' | 'abort' | keyof ResourceLimits;

/** Asks once, and kills what does not end. The first reason counts. */
function endingOf(tree: ProcessTree, ended: Promise<void>) {
  let reason: Why | undefined;
  let thrown: { readonly error: unknown } | undefined;
  const end = (why: Why) => {
    if (reason !== undefined) return;
    reason = why;
    if (why !== 'time' && why !== 'abort') return tree.kill(); // it would use more and more
    tree.ask();
    const controller = new AbortController();
    void ended.then(() => controller.abort());
    delay(GRACE_MS, undefined, controller).then(
      () => tree.kill(),
      () => {},
    );
  };
  return {
    end,
    why: () => reason,
    /** If the caller's own function throws, the run ends with that error. */
    guard: (onLine: (line: string) => void) => (line: string) => {
      if (thrown !== undefined) return;
      try {
        onLine(line);
      } catch (error) {
        thrown = { error };
        end('abort');
      }
    },
    rethrow() {
      if (thrown !== undefined) throw thrown.error;
    },
  };
}

function start({ command, stdin, cwd, env, hasFourthStream = false }: CommandOptions) {
  const [file = '', ...args] = command;
  const input = stdin === undefined ? ('ignore' as const) : ('pipe' as const);
  const stdio = [input, 'pipe', 'pipe', ...(hasFourthStream ? ['pipe' as const] : [])] as const;
  const child = execa(file, args, { ...fixedOptions, stdio, cwd, env });
  child.stdin?.on('error', () => {}); // it may end without reading
  child.stdin?.end(stdin);
  return child;
}

const fixedOptions = {
  extendEnv: false,
  detached: process.platform !== 'win32', // a group of its own, so that its children can be ended with it
  reject: false,
  buffer: false,
  encoding: 'buffer',
  windowsHide: true,
} as const;

function closeAll({ stdio }: ReturnType<typeof start>): void {
  for (const stream of stdio) stream?.destroy();
}

function after(ms: number, work: () => void): Disposable {
  const timer = setTimeout(work, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Many commands may listen to one signal: that is no leak. */
function whenAborted(signal: AbortSignal | undefined, work: () => void): Disposable {
  if (signal === undefined) return { [Symbol.dispose]() {} };
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  signal.addEventListener('abort', work, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', work) };
}

type KeptOutput = {
  /** The beginning of what came, without its last line break. */
  text(): string;
  /** Passes on a last line that has no end. */
  finish(): void;
};

type KeptOutputOptions = { readonly maxBytes: number; readonly onLine?: ((line: string) => void) | undefined };

/** Reads all that comes, so that no writer waits for us, and keeps the first `maxBytes`. */
function keepOutput(stream: Readable, { maxBytes, onLine }: KeptOutputOptions): KeptOutput {
  const kept: Buffer[] = [];
  let room = maxBytes;
  const lines = onLine && splitLines(onLine, maxBytes);
  stream.on('error', () => {}); // it is closed when the process that held it is ended
  stream.on('data', (chunk: Buffer) => {
    lines?.push(chunk);
    if (room <= 0) return;
    kept.push(chunk.subarray(0, room));
    room -= chunk.length;
  });
  const text = () => new StringDecoder('utf8').write(Buffer.concat(kept)).replace(/\r?\n$/, '');
  return { text, finish: () => lines?.finish() };
}

/** A line of more than `maxLength` is cut there. */
function splitLines(onLine: (line: string) => void, maxLength: number) {
  const decoder = new StringDecoder('utf8');
  let begun = '';
  return {
    push(chunk: Buffer) {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      begun += first.slice(0, maxLength - begun.length);
      for (const next of others) {
        onLine(begun);
        begun = next.slice(0, maxLength);
      }
    },
    finish() {
      if (begun !== '') onLine(begun);
      begun = '';
    },
  };
}
