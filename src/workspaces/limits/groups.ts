import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ResourceLimits } from '../../core/contracts/index.ts';
import { isOrphaned, newRolloutId, readText, sendSignal } from '../processes/process-tree.ts';

export type Groups = ReturnType<typeof openGroups>;

let places: { readonly found: GroupPlaces | undefined } | undefined;

export function groupPlaces(): GroupPlaces | undefined {
  places ??= { found: findGroups() };
  return places.found;
}

/** Processes that start what is limited: a shell or bubblewrap. */
const OURS = 2;

/** The kernel counts threads, and a program may have many. So the kernel stops a flood of them, and we count processes. */
export const THREADS = 16;

/**
 * The groups of one rollout. All processes that join them keep to their limits together. Calls `note` with the paths before
 * anything is made there.
 */
export function openGroups(limits: ResourceLimits, name: string, note: (paths: readonly string[]) => void) {
  const { version = 1, folders = {} } = groupPlaces() ?? {};
  const kept = (['processes', 'memoryMb'] as const).filter((limit) => limits[limit] !== undefined && folders[limit]);
  const pathOf = (limit: GroupedLimit) => join(folders[limit]!, groupName(name));
  const paths = [...new Set(kept.map(pathOf))];
  if (paths.length > 0) note(paths);
  for (const path of paths) mkdirSync(path, { recursive: true });
  for (const limit of kept)
    for (const [file, value] of Object.entries(settings(version, limit, limits[limit]!)))
      set(pathOf(limit), file, value);
  const members = (limit: GroupedLimit) => (limit === 'processes' ? pidsIn(pathOf(limit)).length : 0);
  return {
    /** A process joins by writing its number into `cgroup.procs` of each. */
    folders: paths,
    kept,
    /** The limit that was reached. */
    exceeded: () =>
      kept.find((limit) => isOver(pathOf(limit), version, limit) || members(limit) > limits[limit]! + OURS),
    /** Ends the processes that are left in them, and removes them. */
    remove: () => removeGroups(paths),
  };
}

/** What is written into which file of a group. */
function settings(version: 1 | 2, limit: GroupedLimit, value: number): Readonly<Record<string, string>> {
  if (limit === 'processes') return { 'pids.max': String(value * THREADS + OURS) };
  const bytes = String(value * 1024 * 1024);
  return version === 1
    ? { 'memory.limit_in_bytes': bytes, 'memory.memsw.limit_in_bytes': bytes }
    : { 'memory.max': bytes, 'memory.swap.max': '0', 'memory.oom.group': '1' };
}

/** Not every kernel counts swap. */
function set(folder: string, file: string, value: string): void {
  if (existsSync(join(folder, file))) writeFileSync(join(folder, file), value);
}

/** Whether the kernel refused a process, or ended one that had no memory left. */
function isOver(folder: string, version: 1 | 2, limit: GroupedLimit): boolean {
  const file = limit === 'processes' ? 'pids.events' : version === 1 ? 'memory.oom_control' : 'memory.events';
  const row = limit === 'processes' ? /^max (\d+)$/m : /^oom_kill (\d+)$/m;
  return Number(row.exec(readText(join(folder, file)))?.[1] ?? 0) > 0;
}

const pidsIn = (folder: string) => (readText(join(folder, 'cgroup.procs')).match(/\d+/g) ?? []).map(Number);

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

/** Removes the groups of killed processes that had the same place for them as we have. */
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

/** Named by its owner, as all that may be left behind. */
const groupName = (rolloutId: string) => `skillopt-${rolloutId}`;

type GroupedLimit = Exclude<keyof ResourceLimits, 'diskMb'>;

/** Where groups of processes can be made whose limits the kernel keeps. */
type GroupPlaces = { readonly version: 1 | 2; readonly folders: Readonly<Partial<Record<GroupedLimit, string>>> };

/** Limits, their controllers, and the file of each in version 1. */
const CONTROLLERS: readonly (readonly [limit: GroupedLimit, controller: string, limitFile: string])[] = [
  ['processes', 'pids', 'pids.max'],
  ['memoryMb', 'memory', 'memory.limit_in_bytes'],
];

/** What the kernel reports about the groups of this process. */
type GroupTables = { readonly cgroup: string; readonly mountinfo: string };

/** Tries to make one: control groups may exist without our permission. Below our own group, to stay within its limits. */
function findGroups(): GroupPlaces | undefined {
  try {
    const tables = {
      cgroup: readFileSync('/proc/self/cgroup', 'utf8'),
      mountinfo: readFileSync('/proc/self/mountinfo', 'utf8'),
    };
    return findVersion2(tables) ?? findVersion1(tables);
  } catch {
    return undefined; // another system
  }
}

function findVersion1(tables: GroupTables): GroupPlaces | undefined {
  const rows = CONTROLLERS.flatMap(([limit, controller, limitFile]) => {
    const folder = folderOf(tables, controller);
    return folder !== undefined && canMakeGroup(folder, limitFile) ? [[limit, folder]] : [];
  });
  return rows.length === 0 ? undefined : { version: 1, folders: Object.fromEntries(rows) };
}

/** Groups with members of their own pass no controllers on. A session's parent, where it is the user's, may do so. */
function findVersion2(tables: GroupTables): GroupPlaces | undefined {
  const own = folderOf(tables, '');
  const place = own === undefined ? undefined : [own, dirname(own)].find(passesOn);
  return place === undefined ? undefined : { version: 2, folders: { processes: place, memoryMb: place } };
}

function passesOn(folder: string): boolean {
  const isOn = () => {
    const controllers = readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
    return ['memory', 'pids'].every((name) => controllers.includes(name));
  };
  try {
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK); // needed to move a process
    if (!isOn()) writeFileSync(join(folder, 'cgroup.subtree_control'), '+memory +pids');
    return isOn() && canMakeGroup(folder, 'memory.max');
  } catch {
    return false;
  }
}

/** The kernel puts the file of the limit into a new group at once. */
function canMakeGroup(folder: string, limitFile: string): boolean {
  const trial = join(folder, groupName(newRolloutId()));
  try {
    mkdirSync(trial);
    for (const file of [limitFile, 'cgroup.procs']) accessSync(join(trial, file), constants.W_OK);
    return true;
  } catch {
    return false;
  } finally {
    tryRemove(trial);
  }
}

/** Our own group in the tree of a controller; `''` is the one tree of version 2. */
function folderOf({ cgroup, mountinfo }: GroupTables, controller: string): string | undefined {
  const groups = cgroup.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const row = groups.find((match) => match?.[1]?.split(',').includes(controller));
  const mounts = mountinfo.split('\n').map((line) => line.split(' '));
  const mount = mounts.find((fields) => isTreeOf(fields, controller));
  if (!row || !mount) return undefined;
  const below = relative(mount[3]!, row[2]!);
  return below.startsWith('..') ? mount[4]! : join(mount[4]!, below);
}

function isTreeOf(fields: readonly string[], controller: string): boolean {
  const [type = '', , options = ''] = fields.slice(fields.indexOf('-') + 1);
  return controller === '' ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(controller);
}
