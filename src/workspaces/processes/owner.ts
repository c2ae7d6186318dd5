import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { memoize } from '../../core/text/index.ts';
import { readProcess } from './process-tree.ts';

/** Machine, process, its start, and dice: its maker can be looked for later. Folders and groups are named by it. */
const ID = /^([0-9a-f]{8})-(\d+)-(\d+)-[0-9a-f]{8}$/;

export function newRolloutId(): string {
  return [thisMachine(), process.pid, startOf(process.pid), randomBytes(4).toString('hex')].join('-');
}

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

/** The machine, and the namespace in which it numbers our processes. */
function thisMachine(): string {
  if (machine !== undefined) return machine;
  const name = readOrEmpty(() => readFileSync('/etc/machine-id', 'utf8').trim()) || hostname();
  const namespace = readOrEmpty(() => readlinkSync('/proc/self/ns/pid'));
  machine = createHash('sha256').update(`${name}\0${namespace}`).digest('hex').slice(0, 8);
  return machine;
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
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
