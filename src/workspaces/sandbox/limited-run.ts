import { setMaxListeners } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type ResourceLimits,
  type SandboxRequest,
  type SandboxResult,
  SkillError,
} from '../../core/contracts/index.ts';
import { maskKeys } from '../../core/guard/index.ts';
import { layFiles, requirePlainPath } from '../folders/folder-files.ts';
import { openRolloutFolder, type RolloutFolder } from '../folders/rollout-folder.ts';
import { openGroups } from '../limits/groups.ts';
import { diskMbOf, type LimitWatch, mostThreads, watchLimits } from '../limits/watch-limits.ts';
import { atExit, type ProcessTree } from '../processes/process-tree.ts';
import { type Launch, quoted } from './launcher.ts';

/** How one kind of sandbox runs a command. */
export type SandboxKind = {
  readonly root?: string | undefined;
  /** Where the command sees the tools' log. */
  readonly logInside?: string;
  /** Whether it keeps limits of processes and memory by itself. */
  readonly keepsLimits?: boolean;
  /** Turns a request into the program that is really started. */
  readonly prepare: (
    folder: WorkFolder,
    launch: Launch,
  ) => Pick<CommandOptions, 'command' | 'env' | 'treeOf' | 'hasFourthStream'>;
};

/** What every sandbox does around a command: makes its folder and tools, keeps its limits, and removes all of that. */
export async function runLimited(request: SandboxRequest, kind: SandboxKind): Promise<SandboxResult> {
  const { tools = [], workspace } = request;
  const limits = kind.keepsLimits ? { diskMb: request.limits?.diskMb } : (request.limits ?? {});
  await using folder = await openWorkFolder(request, kind.root);
  if (tools.length > 0) await writeToolShims(tools, folder.shims, kind.logInside ?? folder.shims.log);
  const writable = writableOf(request, folder);
  const groups = openGroups(limits, folder.id, (paths) => {
    for (const group of paths) folder.note({ group });
  });
  try {
    const diskMbBefore = limits.diskMb === undefined ? 0 : await diskMbOf(writable);
    const watched = { limits, groups, writable, diskMbBefore };
    const userThreads = groups.kept.includes('processes') ? undefined : mostThreads(limits);
    const launch = { groups: groups.folders, diskMb: limits.diskMb, userThreads, workspace };
    const ended = await runCommand({
      ...request,
      ...kind.prepare(folder, launch),
      cwd: workspace?.overlay ? folder.path : folder.work,
      ...(Object.values(limits).every((limit) => limit === undefined)
        ? {}
        : { watch: (tree, exceeded) => watchLimits(watched, tree, exceeded) }),
    });
    return { ...ended, toolsCalled: await readToolCalls(tools, folder.shims) };
  } finally {
    await groups.remove();
  }
}

function writableOf(
  { workspace, mounts = [] }: SandboxRequest,
  { work, home, temporary, memory }: WorkFolder,
): string[] {
  const shared = mounts.filter(({ isWritable }) => isWritable).map(({ from }) => from);
  return [workspace?.overlay?.upper ?? work, home, temporary, memory, ...shared];
}

/** What a command gets on disk: the folder that it works in, its tools, an empty home, and folders for temporary files. */
export type WorkFolder = RolloutFolder & {
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  readonly memory: string;
  readonly shims: ToolShims;
};

/** Checks everything before it writes anything. */
async function openWorkFolder(request: SandboxRequest, root?: string): Promise<WorkFolder> {
  const { cwd, workspace, files = {}, tools = [] } = request;
  requireToolNames(tools);
  for (const path of Object.keys(files)) requirePlainPath(path);
  const rollout = await openRolloutFolder(root);
  const below = (name: string) => join(rollout.path, name);
  await Promise.all(['work', 'home', 'tools', 'log', 'tmp', 'shm'].map((name) => mkdir(below(name))));
  await Promise.all(['tmp', 'shm'].map((name) => chmod(below(name), 0o1777)));
  const work = workspace?.path ?? cwd ?? below('work');
  const { upper, lower } = workspace?.overlay ?? {};
  await layFiles({ folder: upper ?? work, lower }, files);
  return {
    ...rollout,
    work,
    home: below('home'),
    temporary: below('tmp'),
    memory: below('shm'),
    shims: { folder: below('tools'), log: join(below('log'), 'called') },
  };
}

/** A plain file name in our own folder: no shell and no path reads it differently. */
const TOOL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

function requireToolNames(names: readonly string[]): void {
  const bad = names.find((name) => !TOOL_NAME.test(name));
  if (bad === undefined) return;
  const expected = 'letters, digits, "_", "." and "-", at most 64, with neither "." nor "-" at the beginning';
  throw new SkillError('TASKS_INVALID', `${JSON.stringify(bad)} cannot be the name of a tool: expected ${expected}`, {
    hint: 'Name the tool as it is called, without its path and arguments.',
  });
}

type ToolShims = {
  /** Is put on the PATH. */
  readonly folder: string;
  readonly log: string;
};

/** Programs of these names that log their calls and succeed. `logInside` is where the command sees the log. */
async function writeToolShims(names: readonly string[], { folder, log }: ToolShims, logInside: string): Promise<void> {
  await writeFile(log, '');
  for (const name of new Set(names)) {
    const script = `#!/bin/sh\nprintf '%s\\n' '${name}' >> ${quoted(logInside)}\n`;
    await writeFile(join(folder, name), script, { mode: 0o755 });
  }
}

/** The calls in order. A line that is none of the names was not written by a shim. */
async function readToolCalls(names: readonly string[], { log }: ToolShims): Promise<string[]> {
  if (names.length === 0) return [];
  const lines = (await readFile(log, 'utf8').catch(() => '')).split('\n');
  return lines.filter((line) => names.includes(line));
}

type CommandOptions = Pick<
  SandboxRequest,
  'command' | 'stdin' | 'timeoutMs' | 'signal' | 'onLine' | 'maxOutputBytes'
> & {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasFourthStream?: boolean;
  /** `told` is what it wrote into its fourth stream, if it has one, once that is closed. */
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
async function runCommand(options: CommandOptions): Promise<Omit<SandboxResult, 'toolsCalled'>> {
  const { signal, timeoutMs, onLine, maxOutputBytes: maxBytes = MAX_OUTPUT } = options;
  const { execa } = await import('execa');
  signal?.throwIfAborted();
  const child = start(execa, options);
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
  using _drain = after(DRAIN_MS, () => child.stdio.forEach((stream) => void stream?.destroy()));
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
    stdio: [input, 'pipe', 'pipe', ...(hasFourthStream ? ['pipe' as const] : [])] as const,
    cwd,
    env,
    extendEnv: false,
    detached: process.platform !== 'win32', // a group of its own, so that its children can be ended with it
    reject: false,
    buffer: false,
    encoding: 'buffer',
    windowsHide: true,
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
