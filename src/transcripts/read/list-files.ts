import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { TranscriptFile } from '../transcript-source.ts';

type Listing = {
  /** By the path below the root, with `/`. */
  accept(path: string): boolean;
  /** Whether to look into a folder, by its path below the root. */
  enter?(path: string): boolean;
  /** How many folders deep. */
  depth?: number;
};

/** The files below a root, ordered by path. Links are not followed, and a folder that cannot be opened has no files. */
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

/** Asking another thread takes ten times as long as the answer. Between so many others have their turn. */
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

/** `undefined` for what is gone or no file. */
export function statFile(path: string): TranscriptFile | undefined {
  const found = lstatOf(path);
  if (found === undefined || !found.isFile()) return undefined;
  return { path, identity: `${found.dev}:${found.ino}`, size: found.size, mtimeMs: found.mtimeMs };
}

function lstatOf(path: string) {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** A folder from a variable, as shells and agents read it. */
export function homePath(path: string, home: string): string {
  if (/^~(?:[\\/]|$)/.test(path)) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(home, path);
}
