import { readdirSync } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import type { ResourceLimits } from '../../core/contracts/index.ts';
import { type ProcessTree, type RunningProcess, readText } from '../processes/process-tree.ts';
import { type Groups, THREADS } from './groups.ts';

const LOOK_MS = 200;
const DISK_MS = 1_000;

/** A walk is done at once when the disk has lost this part of the limit since the last one. Programs write gigabytes in a second. */
const FREE_MS = 25;
const WRITTEN_SHARE = 8;

/** A walk over many files is done less often: it may take a tenth of the time. */
const DISK_SHARE = 10;

/** Is stopped once the command has ended. Gives a limit that was reached until then. */
export type LimitWatch = {
  /** Looks now, and not only when it is time. */
  look(): void;
  stop(): Promise<keyof ResourceLimits | undefined>;
};

type Watched = {
  readonly limits: ResourceLimits;
  /** The limits that the kernel keeps. The others are checked from time to time. */
  readonly groups: Groups;
  /** Where the command may write, and what lay there before. */
  readonly writable: readonly string[];
  readonly diskMbBefore: number;
};

/** Checks what a command uses until it is stopped, and once more then: a command may end before the first check. */
export function watchLimits(
  watched: Watched,
  tree: ProcessTree,
  exceeded: (limit: keyof ResourceLimits) => void,
): LimitWatch {
  const disk = watchDisk(watched, exceeded);
  const look = () => {
    const limit = watched.groups.exceeded() ?? tooMuch(watched, tree);
    if (limit !== undefined) exceeded(limit);
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    look,
    async stop() {
      clearInterval(timer);
      const isDiskFull = await disk.stop();
      return watched.groups.exceeded() ?? (isDiskFull ? 'diskMb' : undefined);
    },
  };
}

function tooMuch({ limits, groups }: Watched, tree: ProcessTree): keyof ResourceLimits | undefined {
  const unkept = (limit: 'processes' | 'memoryMb') => (groups.kept.includes(limit) ? undefined : limits[limit]);
  const [processes, memoryMb] = [unkept('processes'), unkept('memoryMb')];
  if (processes === undefined && memoryMb === undefined) return undefined;
  const members = tree.members();
  if (processes !== undefined && members.length > processes) return 'processes';
  return memoryMb !== undefined && memoryMbOf(members) > memoryMb ? 'memoryMb' : undefined;
}

/** Only memory of their own: pages of files are the system's, and libraries would count once for each process. */
function memoryMbOf(members: readonly RunningProcess[]): number {
  const kilobytes = members.flatMap(
    ({ pid }) => readText(`/proc/${pid}/status`).match(/(?<=^Rss(?:Anon|Shmem):[ \t]{0,20})\d+/gm) ?? [],
  );
  return kilobytes.reduce((sum, text) => sum + Number(text), 0) / 1024;
}

function watchDisk({ limits, writable, diskMbBefore }: Watched, exceeded: (limit: 'diskMb') => void) {
  const { diskMb } = limits;
  const isFull = async () => diskMb !== undefined && (await diskMbOf(writable)) - diskMbBefore >= diskMb;
  let timer: NodeJS.Timeout | undefined;
  let [nextAt, freeThen] = [performance.now() + DISK_MS, Number.POSITIVE_INFINITY];
  const look = async () => {
    const begin = performance.now();
    const free = await freeMbOf(writable);
    if (freeThen === Number.POSITIVE_INFINITY) freeThen = free;
    if (begin >= nextAt || freeThen - free >= diskMb! / WRITTEN_SHARE) {
      if (await isFull()) return exceeded('diskMb');
      const end = performance.now();
      [nextAt, freeThen] = [end + Math.max(DISK_MS, DISK_SHARE * (end - begin)), free];
    }
    if (timer !== undefined) timer = setTimeout(look, FREE_MS);
  };
  if (diskMb !== undefined) timer = setTimeout(look, 0);
  return {
    stop() {
      clearTimeout(timer);
      timer = undefined;
      return isFull();
    },
  };
}

/** What is left on the disks of these folders. Asking takes no time, and shows at once that somebody writes. */
async function freeMbOf(folders: readonly string[]): Promise<number> {
  const disks = await Promise.all(
    folders.map(async (folder) => {
      const [{ dev }, { bavail, bsize }] = await Promise.all([stat(folder), statfs(folder)]);
      return [dev, (bavail * bsize) / 2 ** 20] as const;
    }),
  ).catch(() => []); // a folder may be gone: then walks are all there is
  return [...new Map(disks).values()].reduce((sum, free) => sum + free, 0);
}

/** A longer walk counts as nothing. The limit of a single file holds all the same. */
const MAX_WALK_MS = 30_000;

/**
 * What these folders take up on their disks, in whole blocks: a hole in a file takes up nothing. Links are not followed. The
 * system's program is several times as fast as we are, and runs beside us.
 */
export async function diskMbOf(folders: readonly string[]): Promise<number> {
  if (folders.length === 0) return 0;
  const { execa } = await import('execa');
  const { stdout } = await execa('du', ['-skx', ...folders], {
    reject: false, // files that are removed meanwhile are reported on the other output
    timeout: MAX_WALK_MS,
    stderr: 'ignore',
  });
  const kilobytes = stdout.split('\n').map((line) => Number.parseInt(line, 10) || 0);
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024;
}

/** The limit of one file, which is that of all files together, in blocks of 512 bytes, as `ulimit -f` counts. */
export const fileBlocks = (diskMb: number) => Math.ceil(diskMb * 2048);

/**
 * Where no group limits processes, a flood of them would be faster than our checks. The kernel has a limit for each user but
 * root: what the user has now, and room for the rollout.
 */
export function mostThreads({ processes }: ResourceLimits): number | undefined {
  const user = process.getuid?.();
  if (processes === undefined || !user || process.platform !== 'linux') return undefined;
  return threadsOf(user) + processes * THREADS;
}

function threadsOf(user: number): number {
  const isTheirs = new RegExp(`^Uid:\\t${user}\\t`, 'm');
  const statuses = readdirSync('/proc').map((name) => (/^\d+$/.test(name) ? readText(`/proc/${name}/status`) : ''));
  const theirs = statuses.filter((status) => isTheirs.test(status));
  return theirs.reduce((sum, status) => sum + Number(/^Threads:\t(\d+)$/m.exec(status)?.[1] ?? 0), 0);
}
