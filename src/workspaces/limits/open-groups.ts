import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceLimits } from '../../core/contracts/index.ts';
import { isOrphaned } from '../processes/owner.ts';
import { sendSignal } from '../processes/process-table.ts';
import { findGroups, type GroupedLimit, type GroupPlaces, groupName } from './find-groups.ts';

/** Groups of one rollout: whoever joins them keeps to their limits together. */
export type Groups = {
  /** Folders whose `cgroup.procs` a process writes its number into. */
  readonly folders: readonly string[];
  readonly kept: readonly GroupedLimit[];
  /** The limit that was run into. */
  exceeded(): GroupedLimit | undefined;
  /** Ends who is left in them, and removes them. */
  remove(): Promise<void>;
};

let places: { readonly found: GroupPlaces | undefined } | undefined;

export function groupPlaces(): GroupPlaces | undefined {
  places ??= { found: findGroups() };
  return places.found;
}

/** Processes that start what is limited: a shell or bubblewrap. */
const OURS = 2;

/** The kernel counts threads, and a program may have many. So it stops a flood of them, and processes are counted by us. */
export const THREADS = 16;

/** Paths are told to `note` before anything is made there. */
export function openGroups(limits: ResourceLimits, name: string, note: (paths: readonly string[]) => void): Groups {
  const { version = 1, folders = {} } = groupPlaces() ?? {};
  const kept = (['processes', 'memoryMb'] as const).filter((limit) => limits[limit] !== undefined && folders[limit]);
  const pathOf = (limit: GroupedLimit) => join(folders[limit]!, groupName(name));
  const paths = [...new Set(kept.map(pathOf))];
  if (paths.length > 0) note(paths);
  for (const path of paths) mkdirSync(path, { recursive: true });
  for (const limit of kept)
    for (const [file, value] of settings(version, limit, limits[limit]!)) set(pathOf(limit), file, value);
  const members = (limit: GroupedLimit) => (limit === 'processes' ? pidsIn(pathOf(limit)).length : 0);
  return {
    folders: paths,
    kept,
    exceeded: () =>
      kept.find((limit) => isOver(pathOf(limit), version, limit) || members(limit) > limits[limit]! + OURS),
    remove: () => removeGroups(paths),
  };
}

function settings(
  version: 1 | 2,
  limit: GroupedLimit,
  value: number,
): readonly (readonly [file: string, value: string])[] {
  if (limit === 'processes') return [['pids.max', String(value * THREADS + OURS)]];
  const bytes = String(value * 1024 * 1024);
  if (version === 1)
    return [
      ['memory.limit_in_bytes', bytes],
      ['memory.memsw.limit_in_bytes', bytes],
    ];
  return [
    ['memory.max', bytes],
    ['memory.swap.max', '0'],
    ['memory.oom.group', '1'],
  ];
}

/** Not every kernel counts swap. */
function set(folder: string, file: string, value: string): void {
  if (existsSync(join(folder, file))) writeFileSync(join(folder, file), value);
}

/** Whether the kernel refused a process, or ended one for want of memory. */
function isOver(folder: string, version: 1 | 2, limit: GroupedLimit): boolean {
  const file = limit === 'processes' ? 'pids.events' : version === 1 ? 'memory.oom_control' : 'memory.events';
  const row = limit === 'processes' ? /^max (\d+)$/m : /^oom_kill (\d+)$/m;
  return Number(row.exec(textOf(join(folder, file)))?.[1] ?? 0) > 0;
}

const pidsIn = (folder: string) => (textOf(join(folder, 'cgroup.procs')).match(/\d+/g) ?? []).map(Number);

/** Only groups of ours, by their names. A group can be removed a moment after its last process has ended. */
export async function removeGroups(paths: readonly string[]): Promise<void> {
  for (const path of paths.filter((one) => basename(one).startsWith(groupName('')))) {
    for (let tries = 0; tries < 200 && existsSync(path); tries++) {
      set(path, 'pids.max', '0'); // nobody is born while the others are ended
      for (const pid of pidsIn(path)) sendSignal(pid, 'SIGKILL');
      if (!tryRemove(path)) await delay(5);
    }
  }
}

/** Of killed processes that had the same place for them as we have. */
export async function removeStaleGroups(): Promise<void> {
  const folders = new Set(Object.values(groupPlaces()?.folders ?? {}));
  const names = [...folders].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
  await removeGroups(names.filter((path) => isOrphaned(basename(path).slice(groupName('').length))));
}

function tryRemove(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
