import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { memoize } from '../../core/text/index.ts';

/** In the environment of every process of a rollout, with the rollout's id. */
export const MARKER = 'SKILLOPT_ROLLOUT';

/** All processes of a command, as far as they can be distinguished from others. */
export type ProcessTree = {
  /** Asks them to end. */
  ask(): void;
  /** Ends them at once. Also called when this process exits: it cannot wait. */
  kill(): void;
  /** Ends them, and waits until none is left. */
  gone(): Promise<void>;
  /** Those that run now. */
  members(): readonly RunningProcess[];
};

const hasGroups = process.platform !== 'win32';
const groupOf = (pid: number) => (hasGroups ? -pid : pid);

/**
 * How execa starts a program that a `ProcessTree` ends. Its children can be ended with it, it has no variables but those that it
 * is given, and it is no error that it fails. Its output comes as bytes, and is not kept.
 */
export const OWN_GROUP = {
  extendEnv: false,
  detached: hasGroups,
  reject: false,
  buffer: false,
  encoding: 'buffer',
  windowsHide: true,
} as const;

/** For a command that shares the machine's processes: its group, what carries its mark, and what descends from them. */
export function markedTree(rolloutId: string, pid: number): ProcessTree {
  const isMeant = (id: string) => id === rolloutId;
  const seen = new Map<string, RunningProcess>(); // one that took off its mark may have been seen before
  const members = () => {
    const marked = listMarked().filter(({ mark }) => isMeant(mark));
    const found = withDescendants([pid, ...marked.map((one) => one.pid)]);
    for (const one of found) seen.set(`${one.pid} ${one.started}`, one);
    return found;
  };
  return {
    ask: () => sendSignal(groupOf(pid), 'SIGTERM'),
    kill() {
      sendSignal(groupOf(pid), 'SIGKILL');
      sweepOnce(isMeant, [...seen.values()]);
    },
    async gone() {
      sendSignal(groupOf(pid), 'SIGKILL');
      await sweep(isMeant, [...seen.values()]);
    },
    members,
  };
}

/** For a command in a namespace of processes: all end with the first process in it, and none can leave it. */
export function namespaceTree(outside: number, whenBegun: Promise<number | undefined>): ProcessTree {
  let first: RunningProcess | undefined;
  const begun = whenBegun.then((pid) => {
    first = pid === undefined ? undefined : readProcess(pid);
  });
  const isThere = () => first !== undefined && readProcess(first.pid)?.started === first.started;
  return {
    // The first process of a namespace ignores this; the others of its group do not.
    ask: () => sendSignal(groupOf(first?.pid ?? outside), 'SIGTERM'),
    kill() {
      sendSignal(groupOf(outside), 'SIGKILL');
      if (isThere()) sendSignal(first!.pid, 'SIGKILL');
    },
    async gone() {
      sendSignal(groupOf(outside), 'SIGKILL');
      await begun;
      while (isThere()) {
        sendSignal(first!.pid, 'SIGKILL');
        await delay(1);
      }
    },
    members: () => withDescendants([first?.pid ?? outside]),
  };
}

/** What is left after this hangs in the kernel and cannot be ended. The next start tries again. */
const MAX_SWEEP_MS = 20_000;
const BETWEEN_MS = 5;

/**
 * Ends every process of the rollouts that are meant, in any session or group, and what descends from it. A process that is
 * being forked can be missed once, so it repeats until none is found twice in a row.
 */
export async function sweep(isMeant: (rolloutId: string) => boolean, others: readonly RunningProcess[] = []) {
  const until = performance.now() + MAX_SWEEP_MS;
  for (let quiet = 0; quiet < 2 && performance.now() < until; ) {
    quiet = sweepOnce(isMeant, others) === 0 ? quiet + 1 : 0;
    await delay(BETWEEN_MS);
  }
}

/** Gives how many were found. They are stopped first, so that none forks while its siblings are ended. */
function sweepOnce(isMeant: (rolloutId: string) => boolean, others: readonly RunningProcess[] = []): number {
  const all = listProcesses();
  const marked = listMarked().filter(({ mark }) => isMeant(mark));
  const known = others.filter((one) => all.some(({ pid, started }) => pid === one.pid && started === one.started));
  const roots = [...marked, ...known].map(({ pid }) => pid);
  const found = withDescendants(roots, all).filter(({ pid }) => pid !== process.pid); // a rollout may run this program
  for (const { pid } of found) sendSignal(pid, 'SIGSTOP');
  for (const { pid } of found) sendSignal(pid, 'SIGKILL');
  return found.length;
}

export type RunningProcess = {
  readonly pid: number;
  readonly parent: number;
  /** Distinguishes it from another process that gets the same number later. */
  readonly started: string;
};

const hasProc = process.platform === 'linux';

/** `undefined` when there is none, also where it has ended and its parent has not asked for its end. */
export function readProcess(pid: number): RunningProcess | undefined {
  if (!hasProc) return listWithPs().find((one) => one.pid === pid);
  const text = readText(`/proc/${pid}/stat`);
  // Its name is in brackets and may hold anything, brackets too.
  const [state, parent, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return !state || /[ZXx]/.test(state) ? undefined : { pid, parent: Number(parent), started: rest[17] ?? '' };
}

/** All processes that can be seen from here. Files of `/proc` are memory: asking for them one by one takes longer. */
function listProcesses(): readonly RunningProcess[] {
  if (!hasProc) return listWithPs();
  return processIds().flatMap((pid) => readProcess(pid) ?? []);
}

/** The processes that were started with our marker in their environment, and its value. */
function listMarked(): readonly { readonly pid: number; readonly mark: string }[] {
  const environments = hasProc
    ? processIds().map((pid) => [pid, readText(`/proc/${pid}/environ`).split('\0')] as const)
    : ps('pid', 'command').map(([pid, ...words]) => [Number(pid), words] as const);
  return environments.flatMap(([pid, words]) => {
    const entry = words.find((word) => word.startsWith(`${MARKER}=`));
    return entry === undefined ? [] : [{ pid, mark: entry.slice(MARKER.length + 1) }];
  });
}

/** These and all that descend from them. */
function withDescendants(roots: readonly number[], all = listProcesses()): readonly RunningProcess[] {
  const known = new Set(roots);
  for (let size = 0; size !== known.size; ) {
    size = known.size;
    for (const { pid, parent } of all) if (known.has(parent)) known.add(pid);
  }
  return all.filter(({ pid }) => known.has(pid));
}

/** A process that has ended meanwhile, or belongs to someone else, is not ours: no error. */
export function sendSignal(pid: number, signal: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP'): void {
  if (Math.abs(pid) <= 1) return; // these numbers mean everyone
  try {
    process.kill(pid, signal);
  } catch {
    // nobody is there
  }
}

const processIds = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Also of the kernel's files, which may be gone at any moment: then it is empty. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** Where there is no `/proc`. `ps` shows environments after the commands of the user's own processes. */
function ps(...columns: string[]): readonly (readonly string[])[] {
  const args = ['axeww', '-o', columns.map((column) => `${column}=`).join(',')];
  try {
    const text = execFileSync('ps', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, stdio: 'pipe' });
    return text.split('\n').map((line) => line.trim().split(/\s+/));
  } catch {
    return []; // a system without it
  }
}

function listWithPs(): readonly RunningProcess[] {
  const rows = ps('pid', 'ppid', 'state', 'lstart').filter(([, , state = 'Z']) => !state.startsWith('Z'));
  return rows.map(([pid, parent, , ...started]) => {
    const at = Date.parse(started.join(' '));
    return { pid: Number(pid), parent: Number(parent), started: String(Math.floor(at / 1000)) };
  });
}

/** Machine, process, its start, and dice: its maker can be looked for later. Folders and groups are named by it. */
const ID = /^([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{8}$/;

export const newRolloutId = (): string =>
  [thisMachine(), process.pid, startOf(process.pid), randomBytes(4).toString('hex')].join('-');

const startOf = memoize((pid: number) => readProcess(pid)?.started ?? '0');

/**
 * Whether nobody is left to remove what carries this id. False where that cannot be known: on another machine, or in another
 * container, the same number is another process.
 */
export function isOrphaned(id: string): boolean {
  const [, where, pid, started] = ID.exec(id) ?? [];
  if (where !== thisMachine()) return false;
  return readProcess(Number(pid))?.started !== started;
}

let machine: string | undefined;

const PID_NAMESPACE = '/proc/self/ns/pid';

/** The machine, and the namespace in which it numbers our processes. */
function thisMachine(): string {
  if (machine !== undefined) return machine;
  const name = readText('/etc/machine-id').trim() || hostname();
  const namespace = existsSync(PID_NAMESPACE) ? readlinkSync(PID_NAMESPACE) : '';
  machine = createHash('sha256').update(`${name}\0${namespace}`).digest('hex').slice(0, 8);
  return machine;
}

/** What must end with this process. One listener for all: a listener each would look like a leak to Node. */
const waiting = new Set<() => void>();

/** Calls `work` when this process exits before it is disposed. `kill -9` leaves that to the next start. */
export function atExit(work: () => void): Disposable {
  if (waiting.size === 0) process.on('exit', doAll);
  waiting.add(work);
  return {
    [Symbol.dispose]() {
      waiting.delete(work);
      if (waiting.size === 0) process.off('exit', doAll);
    },
  };
}

function doAll(): void {
  for (const work of [...waiting].reverse()) {
    // the latest first: what works in a folder ends before the folder goes
    try {
      work();
    } catch {
      // the others are still called
    }
  }
}
