import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

export type RunningProcess = {
  readonly pid: number;
  readonly parent: number;
  /** Tells it from another process that gets the same number later. */
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
export function listProcesses(): readonly RunningProcess[] {
  if (!hasProc) return listWithPs();
  return processIds().flatMap((pid) => readProcess(pid) ?? []);
}

/** The processes that have this variable in the environment that they were started with, and its value. */
export function listMarked(name: string): readonly { readonly pid: number; readonly mark: string }[] {
  if (!hasProc) return listMarkedWithPs(name);
  const found = processIds().map((pid) => ({ pid, mark: valueIn(readText(`/proc/${pid}/environ`), '\0', name) }));
  return found.flatMap(({ pid, mark }) => (mark === undefined ? [] : { pid, mark }));
}

/** These and all that descend from them. */
export function withDescendants(roots: readonly number[], all = listProcesses()): readonly RunningProcess[] {
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

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function valueIn(environment: string, separator: string, name: string): string | undefined {
  const entry = environment.split(separator).find((one) => one.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** Where there is no `/proc`. Environments are shown behind the commands of one's own processes. */
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

function listMarkedWithPs(name: string) {
  const rows = ps('pid', 'command').map(([pid, ...words]) => ({
    pid: Number(pid),
    mark: valueIn(words.join(' '), ' ', name),
  }));
  return rows.flatMap(({ pid, mark }) => (mark === undefined ? [] : { pid, mark }));
}
