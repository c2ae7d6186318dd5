import { lstat, readdir } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
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
  const paths = await pathsBelow(root, { accept, enter, depth }, '');
  const files = await Promise.all(paths.sort().map((path) => statFile(join(root, path))));
  return files.filter((file) => file !== undefined);
}

async function pathsBelow(root: string, listing: Required<Listing>, folder: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
  const paths: string[] = [];
  for (const entry of entries) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isFile() && listing.accept(path)) paths.push(path);
    if (entry.isDirectory() && listing.depth > 0 && listing.enter(path)) {
      paths.push(...(await pathsBelow(root, { ...listing, depth: listing.depth - 1 }, path)));
    }
  }
  return paths;
}

/** `undefined` for what is gone or no file. */
export async function statFile(path: string): Promise<TranscriptFile | undefined> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) return undefined;
  return { path, identity: `${found.dev}:${found.ino}`, size: found.size, mtimeMs: found.mtimeMs };
}

/** A folder from a variable, as shells and agents read it. */
export function homePath(path: string, home: string): string {
  if (/^~(?:[\\/]|$)/.test(path)) return join(home, path.slice(1));
  return isAbsolute(path) ? path : join(home, path);
}
