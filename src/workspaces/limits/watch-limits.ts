import { readFileSync } from 'node:fs';
import type { ResourceLimits } from '../../core/contracts/index.ts';
import type { RunningProcess } from '../processes/process-table.ts';
import type { ProcessTree } from '../run/process-tree.ts';
import type { Watch } from '../run/run-command.ts';
import { diskMbOf } from './disk-use.ts';
import type { Groups } from './open-groups.ts';

const LOOK_MS = 200;
const DISK_MS = 1_000;

/** A walk over many files is done less often: it may take a tenth of the time. */
const DISK_SHARE = 10;

export type Watched = {
  readonly limits: ResourceLimits;
  /** What the kernel keeps by itself. The rest is looked at from time to time. */
  readonly groups: Groups;
  /** Where the command may write, and what lay there before. */
  readonly writable: readonly string[];
  readonly diskMbBefore: number;
};

/** Looks at what a command uses until it is stopped, and once more then: a command may end before it is looked at. */
export function watchLimits(
  watched: Watched,
  tree: ProcessTree,
  exceeded: (limit: keyof ResourceLimits) => void,
): Watch {
  const disk = watchDisk(watched, exceeded);
  const timer = setInterval(() => {
    const limit = watched.groups.exceeded() ?? tooMuch(watched, tree);
    if (limit !== undefined) exceeded(limit);
  }, LOOK_MS);
  return {
    async stop() {
      clearInterval(timer);
      const isDiskFull = await disk.stop();
      return watched.groups.exceeded() ?? (isDiskFull ? 'diskMb' : undefined);
    },
  };
}

function tooMuch({ limits, groups }: Watched, tree: ProcessTree): keyof ResourceLimits | undefined {
  const { processes, memoryMb } = Object.fromEntries(
    Object.entries(limits).filter(([limit]) => !(groups.kept as readonly string[]).includes(limit)),
  ) as ResourceLimits;
  if (processes === undefined && memoryMb === undefined) return undefined;
  const members = tree.members();
  if (processes !== undefined && members.length > processes) return 'processes';
  return memoryMb !== undefined && memoryMbOf(members) > memoryMb ? 'memoryMb' : undefined;
}

/** What is theirs alone: pages of files are the system's, and libraries would count once for each process. */
function memoryMbOf(members: readonly RunningProcess[]): number {
  const kilobytes = members.flatMap(({ pid }) => statusOf(pid).match(/(?<=^Rss(Anon|Shmem):\s*)\d+/gm) ?? []);
  return kilobytes.reduce((sum, text) => sum + Number(text), 0) / 1024;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'latin1');
  } catch {
    return '';
  }
}

function watchDisk({ limits, writable, diskMbBefore }: Watched, exceeded: (limit: 'diskMb') => void) {
  const { diskMb } = limits;
  const isFull = async () => diskMb !== undefined && (await diskMbOf(writable)) - diskMbBefore >= diskMb;
  let timer: NodeJS.Timeout | undefined;
  const look = async () => {
    const begin = performance.now();
    if (await isFull()) exceeded('diskMb');
    else if (timer !== undefined) timer = setTimeout(look, Math.max(DISK_MS, DISK_SHARE * (performance.now() - begin)));
  };
  if (diskMb !== undefined) timer = setTimeout(look, DISK_MS);
  return {
    stop() {
      clearTimeout(timer);
      timer = undefined;
      return isFull();
    },
  };
}
