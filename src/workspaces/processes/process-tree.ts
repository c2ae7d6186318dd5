import { setTimeout as delay } from 'node:timers/promises';
import { MARKER } from './owner.ts';
import {
  listMarked,
  listProcesses,
  type RunningProcess,
  readProcess,
  sendSignal,
  withDescendants,
} from './process-table.ts';

/** All processes of a command, as far as they can be told from others. */
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

/** For a command that shares the machine's processes: its group, what carries its mark, and what descends from them. */
export function markedTree(rolloutId: string, pid: number): ProcessTree {
  const isMeant = (id: string) => id === rolloutId;
  const seen = new Map<string, RunningProcess>(); // one that took off its mark may have been seen before
  const members = () => {
    const marked = listMarked(MARKER).filter(({ mark }) => isMeant(mark));
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
  const until = Date.now() + MAX_SWEEP_MS;
  for (let quiet = 0; quiet < 2 && Date.now() < until; ) {
    quiet = sweepOnce(isMeant, others) === 0 ? quiet + 1 : 0;
    await delay(BETWEEN_MS);
  }
}

/** Gives how many were found. They are stopped first, so that none forks while its siblings are ended. */
function sweepOnce(isMeant: (rolloutId: string) => boolean, others: readonly RunningProcess[] = []): number {
  const all = listProcesses();
  const marked = listMarked(MARKER).filter(({ mark }) => isMeant(mark));
  const known = others.filter((one) => all.some(({ pid, started }) => pid === one.pid && started === one.started));
  const found = withDescendants(
    [...marked, ...known].map(({ pid }) => pid),
    all,
  ).filter(isNotUs);
  for (const { pid } of found) sendSignal(pid, 'SIGSTOP');
  for (const { pid } of found) sendSignal(pid, 'SIGKILL');
  return found.length;
}

/** A rollout may run this program. */
const isNotUs = ({ pid }: RunningProcess) => pid !== process.pid;
