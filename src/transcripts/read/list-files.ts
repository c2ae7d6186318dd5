import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { TranscriptFile } from '../transcript-source.ts';

type Listing = {
  /** Paths are relative to the root, with `/`. */
  accept(path: string): boolean;
  enter?(path: string): boolean;
  depth?: number;
};

/** The files below a root, ordered by path. Links are not followed. A folder that cannot be opened counts as empty. */
export async function listFiles(root: string, { accept, enter = () => true, depth = 12 }: Listing) {
  const paths = pathsBelow(root, { accept, enter, depth }, '');
  const files: TranscriptFile[] = [];
  for (const [index, path] of paths.sort().entries()) {
    if (index % PER_TURN === 0) await setImmediate();
    const file = statFile(join(root, path));
    if (file !== undefined) files.push(file);
  }
  return files;
}

/** Without files that have a newer form beside them, which holds all of their content. */
export function withoutOlder(files: readonly TranscriptFile[], newerOf: (path: string) => string): TranscriptFile[] {
  const paths = new Set(files.map(({ path }) => path));
  return files.filter(({ path }) => newerOf(path) === path || !paths.has(newerOf(path)));
}

/** Asynchronous calls take ten times as long. Other work runs after this many files. */
const PER_TURN = 100;

function pathsBelow(root: string, listing: Required<Listing>, folder: string): string[] {
  const entries = entriesOf(join(root, folder));
  const paths: string[] = [];
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile() && listing.accept(path)) paths.push(path);
    if (entry.isDirectory() && listing.depth > 0 && listing.enter(path)) {
      paths.push(...pathsBelow(root, { ...listing, depth: listing.depth - 1 }, path));
    }
  }
  return paths;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

export function statFile(path: string): TranscriptFile | undefined {
  try {
    const found = lstatSync(path);
    if (!found.isFile()) return undefined;
    return { path, identity: `${found.dev}:${found.ino}`, size: found.size, mtimeMs: found.mtimeMs };
  } catch {
    return undefined;
  }
}

/** The folder that a variable names, as shells and agents read it. */
export function homePath(path: string, home: string): string {
  if (/^~(?:[\\/]|$)/.test(path)) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(home, path);
}
