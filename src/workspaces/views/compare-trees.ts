import type { Stats } from 'node:fs';
import { lstat, open, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkspaceView } from '../../core/contracts/index.ts';
import { launched } from '../sandbox/launcher.ts';

/** What changed from one folder to its copy. */
export async function compareTrees(before: string, after: string): Promise<Compared> {
  const { differences, leftOut } = await compareFolders(before, after, { isOverlay: false });
  return { differences, leftOut };
}

/** What changed in a view: all in its upper folder, and what folders that were made again hide of the lower one. */
export async function compareOverlay(view: WorkspaceView): Promise<Compared> {
  const { lower, upper } = view.overlay!;
  const { differences, leftOut, inBoth } = await compareFolders(lower, upper, { isOverlay: true });
  for (const path of await hiddenIn(view, inBoth)) {
    differences.push(...(await differencesOf({ path, before: await find(join(lower, path)) }, leftOut)));
  }
  return { differences, leftOut: [...new Set(leftOut)] };
}

/** Of a view only the upper folder is listed: what is not in it has not changed. */
async function compareFolders(before: string, after: string, { isOverlay }: { readonly isOverlay: boolean }) {
  const differences: Difference[] = [];
  const leftOut: string[] = [];
  const inBoth: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    const roots = isOverlay ? [after] : [before, after];
    const names = await Promise.all(roots.map((root) => namesIn(join(root, folder), folder || '.', leftOut)));
    for (const name of [...new Set(names.flat())].sort())
      await compare(name, folder === '' ? name : `${folder}/${name}`);
  };
  const compare = async (name: string, path: string) => {
    const [was, there] = await Promise.all([find(join(before, path)), find(join(after, path))]);
    const is = isOverlay && there && isWhiteout(there) ? undefined : there;
    if (isLeftOut(name, was) || isLeftOut(name, is)) leftOut.push(leftOutNote(path));
    else if (!there && (isOverlay || !was)) leftOut.push(`${path}: its name cannot be read`);
    else if (was?.stats.isDirectory() && is?.stats.isDirectory()) {
      inBoth.push(path);
      await walk(path);
    } else differences.push(...(await differencesOf({ path, before: was, after: is }, leftOut)));
  };
  await walk('');
  return { differences, leftOut, inBoth };
}

/** How a view marks what was removed from it. */
const isWhiteout = ({ stats }: FoundPath) => stats.isCharacterDevice() && stats.rdev === 0;

/**
 * What is in the lower one of these folders, and neither in the upper one nor visible. Whether a folder hides the one below it
 * is an attribute that we cannot read, so the view is mounted and listed.
 */
async function hiddenIn(view: WorkspaceView, folders: readonly string[]): Promise<string[]> {
  const { lower, upper } = view.overlay!;
  const rows = await Promise.all(
    folders.map(async (folder) => {
      const above = new Set(await namesIn(join(upper, folder), folder, []));
      const below = await namesIn(join(lower, folder), folder, []);
      return below.filter((name) => !above.has(name)).map((name) => `${folder}/${name}`);
    }),
  );
  const belowOnly = rows.flat();
  if (belowOnly.length === 0) return [];
  const seen = await namesSeen(view, folders);
  return belowOnly.filter((path) => !seen.has(path));
}

const LIST = `cd "$0" && exec xargs -0 sh -c 'exec find "$@" -mindepth 1 -maxdepth 1 -print0' sh`;

async function namesSeen(workspace: WorkspaceView, folders: readonly string[]): Promise<ReadonlySet<string>> {
  const [file = '', ...args] = launched(['/bin/sh', '-c', LIST, workspace.path], { workspace });
  const input = folders.map((folder) => `./${folder}`).join('\0');
  const { execa } = await import('execa');
  const { stdout } = await execa(file, args, { input, maxBuffer: 256 * 1024 * 1024 });
  return new Set(stdout.split('\0').map((path) => path.slice('./'.length)));
}

/** A path on disk and what was there. Links are not followed. */
export type FoundPath = { readonly path: string; readonly stats: Stats };

/** One file, link or other path that has changed. */
export type Difference = {
  readonly path: string;
  readonly before?: FoundPath | undefined;
  readonly after?: FoundPath | undefined;
};

export type Compared = { readonly differences: readonly Difference[]; readonly leftOut: readonly string[] };

/** Installed packages and caches, which programs can make again, and version control, which has its own record. */
const LEFT_OUT = new Set([
  ...['.git', 'node_modules', '__pycache__', '.venv', '.tox', '.cache', '.gradle'],
  ...['.pytest_cache', '.mypy_cache', '.ruff_cache', '.npm'],
]);

const isLeftOut = (name: string, found: FoundPath | undefined) =>
  LEFT_OUT.has(name) && found?.stats.isDirectory() === true;

const leftOutNote = (path: string) => `${path}/: not looked into`;

async function find(path: string): Promise<FoundPath | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats && { path, stats };
}

/** Sorted. A folder that cannot be read counts as empty, and is noted. */
async function namesIn(folder: string, shown: string, leftOut: string[]): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTDIR') leftOut.push(`${shown}/: cannot be read (${code})`);
    return [];
  }
}

/** The path itself, or all files below it. Empty folders do not count, as in git. */
async function filesOf(found: FoundPath | undefined, path: string, leftOut: string[]): Promise<[string, FoundPath][]> {
  if (found === undefined) return [];
  if (!found.stats.isDirectory()) return [[path, found]];
  const files: [string, FoundPath][] = [];
  for (const name of await namesIn(found.path, path, leftOut)) {
    const [inner, below] = [await find(join(found.path, name)), `${path}/${name}`];
    if (isLeftOut(name, inner)) leftOut.push(leftOutNote(below));
    else files.push(...(await filesOf(inner, below, leftOut)));
  }
  return files;
}

/** The differences of a path where not both sides are folders. */
async function differencesOf({ path, before, after }: Difference, leftOut: string[]): Promise<Difference[]> {
  if (await isSame(before, after)) return [];
  if (before && after && !before.stats.isDirectory() && !after.stats.isDirectory()) return [{ path, before, after }];
  const gone = await filesOf(before, path, leftOut);
  const come = await filesOf(after, path, leftOut);
  return [
    ...gone.map(([at, found]) => ({ path: at, before: found })),
    ...come.map(([at, found]) => ({ path: at, after: found })),
  ];
}

/** Compares contents: anyone can set times. */
async function isSame(before: FoundPath | undefined, after: FoundPath | undefined): Promise<boolean> {
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
