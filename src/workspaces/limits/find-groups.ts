import { accessSync, constants, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { ResourceLimits } from '../../core/contracts/index.ts';
import { newRolloutId } from '../processes/owner.ts';

/** By its owner, as all that may be left behind. */
export const groupName = (rolloutId: string) => `skillopt-${rolloutId}`;

export type GroupedLimit = Exclude<keyof ResourceLimits, 'diskMb'>;

/** Where groups of processes can be made whose limits the kernel keeps. */
export type GroupPlaces = {
  readonly version: 1 | 2;
  readonly folders: Readonly<Partial<Record<GroupedLimit, string>>>;
};

const CONTROLLERS: Readonly<Record<GroupedLimit, string>> = { processes: 'pids', memoryMb: 'memory' };

/** In version 1. */
const LIMIT_FILES: Readonly<Record<string, string>> = { pids: 'pids.max', memory: 'memory.limit_in_bytes' };

/** What the kernel says of the groups of this process. */
export type GroupTables = { readonly cgroup: string; readonly mountinfo: string };

const readTables = (): GroupTables => ({
  cgroup: readFileSync('/proc/self/cgroup', 'utf8'),
  mountinfo: readFileSync('/proc/self/mountinfo', 'utf8'),
});

/** By really making one: that there are control groups does not say that we may. Below our own, so as to stay within its limits. */
export function findGroups(tables?: GroupTables): GroupPlaces | undefined {
  try {
    const found = tables ?? readTables();
    return findVersion2(found) ?? findVersion1(found);
  } catch {
    return undefined; // another system
  }
}

function findVersion1(tables: GroupTables): GroupPlaces | undefined {
  const rows = Object.entries(CONTROLLERS).flatMap(([limit, controller]) => {
    const folder = folderOf(tables, controller);
    return folder !== undefined && canMakeGroup(folder, LIMIT_FILES[controller]!) ? [[limit, folder]] : [];
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
  const isOn = () =>
    /(?=.*\bmemory\b)(?=.*\bpids\b)/.test(readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8'));
  try {
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK); // to move a process asks for that
    if (!isOn()) writeFileSync(join(folder, 'cgroup.subtree_control'), '+memory +pids');
    return isOn() && canMakeGroup(folder, 'memory.max');
  } catch {
    return false;
  }
}

/** One has the file of its limit from the kernel as soon as it is there. */
function canMakeGroup(folder: string, limitFile: string): boolean {
  const trial = join(folder, groupName(newRolloutId()));
  try {
    mkdirSync(trial);
    for (const file of [limitFile, 'cgroup.procs']) accessSync(join(trial, file), constants.W_OK);
    return true;
  } catch {
    return false;
  } finally {
    try {
      rmdirSync(trial);
    } catch {
      // it was not made
    }
  }
}

/** Our own group in the tree of a controller; `''` is the one tree of version 2. */
function folderOf({ cgroup, mountinfo }: GroupTables, controller: string): string | undefined {
  const row = cgroup
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
    .find((match) => match?.[1]?.split(',').includes(controller));
  const mount = mountinfo
    .split('\n')
    .map((line) => line.split(' '))
    .find((fields) => isTreeOf(fields, controller));
  if (!row || !mount) return undefined;
  const below = relative(mount[3]!, row[2]!);
  return below.startsWith('..') ? mount[4]! : join(mount[4]!, below);
}

function isTreeOf(fields: readonly string[], controller: string): boolean {
  const [type = '', , options = ''] = fields.slice(fields.indexOf('-') + 1);
  return controller === '' ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes(controller);
}
