import { setTimeout as delay } from 'node:timers/promises';
import { MARKER } from '../processes/owner.ts';
import {
  listMarked,
  type RunningProcess,
  readProcess,
  sendSignal,
  withDescendants,
} from '../processes/process-table.ts';
import { sweep, sweepOnce } from '../processes/sweep.ts';

/** All processes of a command, as far as they can be told from others. */
export type ProcessTree = {
  /** Asks them to end. */
  ask(): void;
  /** Ends them at once. Also called when this process exits: it cannot wait. */
  kill(): void;
  /** Ends them, and waits until nobody is left. */
  gone(): Promise<void>;
  /** Who is there now. */
  members(): readonly RunningProcess[];
};

const hasGroups = process.platform !== 'win32';
const groupOf = (pid: number) => (hasGroups ? -pid : pid);

/** Of a command that shares the machine's processes: its group, what carries its mark, and what descends from them. */
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

/** Of a command in a namespace of processes: all end with the first process in it, and nobody can leave it. */
export function namespaceTree(outside: number, whenBegun: Promise<number | undefined>): ProcessTree {
  let first: RunningProcess | undefined;
  const begun = whenBegun.then((pid) => {
    first = pid === undefined ? undefined : readProcess(pid);
  });
  const isThere = () => first !== undefined && readProcess(first.pid)?.started === first.started;
  return {
    // The first process of a namespace is deaf to this, but not the others of its group.
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
