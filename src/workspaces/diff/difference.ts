import type { Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** Something on disk, as it was when it was looked at. Links are not followed. */
export type Found = { readonly path: string; readonly stats: Stats };

/** One file, link or other thing that is not what it was. */
export type Difference = {
  readonly path: string;
  readonly before?: Found | undefined;
  readonly after?: Found | undefined;
};

export type Compared = { readonly differences: readonly Difference[]; readonly leftOut: readonly string[] };

/** What programs make again: installed packages, caches, and version control, which has its own. */
const LEFT_OUT = new Set([
  ...['.git', 'node_modules', '__pycache__', '.venv', '.tox', '.cache', '.gradle'],
  ...['.pytest_cache', '.mypy_cache', '.ruff_cache', '.npm'],
]);

export const isLeftOut = (name: string, found: Found | undefined) =>
  LEFT_OUT.has(name) && found?.stats.isDirectory() === true;

export const leftOutNote = (path: string) => `${path}/: not looked into`;

export async function find(path: string): Promise<Found | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats && { path, stats };
}

/** Sorted. A folder that may not be read is taken for an empty one, which is said. */
export async function namesIn(folder: string, shown: string, leftOut: string[]): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') leftOut.push(`${shown}/: cannot be read (${code})`);
    return [];
  }
}

/** What it is, or all that is in it. Folders by themselves are nothing, as for git. */
async function filesOf(found: Found | undefined, path: string, leftOut: string[]): Promise<[string, Found][]> {
  if (found === undefined) return [];
  if (!found.stats.isDirectory()) return [[path, found]];
  const files: [string, Found][] = [];
  for (const name of await namesIn(found.path, path, leftOut)) {
    const [inner, below] = [await find(join(found.path, name)), `${path}/${name}`];
    if (isLeftOut(name, inner)) leftOut.push(leftOutNote(below));
    else files.push(...(await filesOf(inner, below, leftOut)));
  }
  return files;
}

/** What becomes of a path where not both sides are folders. */
export async function differencesOf({ path, before, after }: Difference, leftOut: string[]): Promise<Difference[]> {
  if (await isSame(before, after)) return [];
  if (before && after && !before.stats.isDirectory() && !after.stats.isDirectory()) return [{ path, before, after }];
  const gone = await filesOf(before, path, leftOut);
  const come = await filesOf(after, path, leftOut);
  return [
    ...gone.map(([at, found]) => ({ path: at, before: found })),
    ...come.map(([at, found]) => ({ path: at, after: found })),
  ];
}

/** By what is in it: times can be set by anyone. */
async function isSame(before: Found | undefined, after: Found | undefined): Promise<boolean> {
  if (before === undefined || after === undefined) return before === after;
  const [one, other] = [before.stats, after.stats];
  if ((one.mode & 0o170111) !== (other.mode & 0o170111)) return false;
  if (one.isSymbolicLink()) return (await readlink(before.path)) === (await readlink(after.path));
  if (!one.isFile()) return true;
  return one.size === other.size && (await haveSameBytes(before.path, after.path));
}

const CHUNK = 256 * 1024;

async function haveSameBytes(one: string, other: string): Promise<boolean> {
  const files = await Promise.all([open(one), open(other)]).catch(() => undefined);
  if (files === undefined) return false; // one of them may not be read
  await using _one = files[0];
  await using _other = files[1];
  const [left, right] = [Buffer.alloc(CHUNK), Buffer.alloc(CHUNK)];
  for (;;) {
    const [{ bytesRead }, { bytesRead: others }] = await Promise.all([files[0].read(left), files[1].read(right)]);
    if (bytesRead !== others || !left.subarray(0, bytesRead).equals(right.subarray(0, bytesRead))) return false;
    if (bytesRead === 0) return true;
  }
}
