import { setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceLimits, SandboxRequest, SandboxResult } from '../../core/contracts/index.ts';
import { maskKeys } from '../../core/guard/index.ts';
import type { LimitWatch } from '../limits/watch-limits.ts';
import { atExit, OWN_GROUP, type ProcessTree } from '../processes/process-tree.ts';

export type CommandOptions = Pick<
  SandboxRequest,
  'command' | 'stdin' | 'timeoutMs' | 'signal' | 'onLine' | 'maxOutputBytes'
> & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasFourthStream?: boolean;
  /** `told` is the first line of its fourth stream, if it has one. */
  readonly treeOf: (started: { readonly pid: number; readonly told: Promise<string> }) => ProcessTree;
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
export async function runCommand(
  options: CommandOptions,
): Promise<Omit<SandboxResult, 'toolsCalled'> & { told: string }> {
  const { signal, timeoutMs, onLine, maxOutputBytes: maxBytes = MAX_OUTPUT } = options;
  const { execa } = await import('execa');
  signal?.throwIfAborted();
  const child = start(execa, options);
  if (child.pid === undefined) throw (await child).cause;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const told = listenTo(child.stdio[3] as Readable | undefined);
  const tree = options.treeOf({ pid: child.pid, told: told.first });
  using _ = atExit(() => tree.kill());
  const ending = endingOf(tree, ended);
  const output = keepOutput(child.stdout, { maxBytes, onLine: onLine && ending.guard(onLine) });
  const errors = keepOutput(child.stderr, { maxBytes });
  using _time = after(timeoutMs, () => ending.end('time'));
  using _abort = whenAborted(signal, () => ending.end('abort'));
  const watch = options.watch?.(tree, (limit) => ending.end(limit));
  await ended;
  watch?.look(); // a shell that is refused another process ends, and leaves the others
  await tree.gone(); // also what it left behind
  const late = await watch?.stop();
  using _drain = after(DRAIN_MS, () => child.stdio.forEach((stream) => void stream?.destroy()));
  const { exitCode, signal: endedBy } = await child;
  output.finish();
  signal?.throwIfAborted();
  ending.rethrow();
  const texts = { stdout: output.text(), stderr: errors.text() };
  return { ...endOf(ending.why() ?? late, exitCode, endedBy), ...texts, told: told.all() };
}

/** The first line as soon as it comes, and all of it at the end. */
function listenTo(stream: Readable | undefined) {
  let all = '';
  const first = new Promise<string>((resolve) => {
    if (stream === undefined) return resolve('');
    stream.on('error', () => {}).once('close', () => resolve(all));
    stream.setEncoding('utf8').on('data', (text: string) => {
      all += text;
      if (all.includes('\n')) resolve(all);
    });
  });
  return { first, all: () => all };
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
        onLine(maskKeys(line));
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

function start(execa: typeof import('execa').execa, { command, stdin, cwd, env, hasFourthStream }: CommandOptions) {
  const [file = '', ...args] = command;
  const input = stdin === undefined ? ('ignore' as const) : ('pipe' as const);
  const child = execa(file, args, {
    ...OWN_GROUP,
    stdio: [input, 'pipe', 'pipe', ...(hasFourthStream ? ['pipe' as const] : [])] as const,
    cwd,
    env,
  });
  child.stdin?.on('error', () => {}); // it may end without reading
  child.stdin?.end(stdin);
  return child;
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

type KeptOutputOptions = { readonly maxBytes: number; readonly onLine?: ((line: string) => void) | undefined };

/** Reads all that comes, so that no writer waits for us. Keeps the first `maxBytes`, without keys of ours and the last line break. */
function keepOutput(stream: Readable, { maxBytes, onLine }: KeptOutputOptions) {
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
  const text = () => maskKeys(new StringDecoder('utf8').write(Buffer.concat(kept)).replace(/\r?\n$/, ''));
  return { text, finish: () => lines?.finish() };
}

/** A line of more than `maxLength` is cut there. `finish` passes on a last line that has no end. */
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
