import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** How many files are read at once. */
const AT_ONCE = 16;

/** What a folder holds, as one hash: names, links, whether files can be run, and their bytes. Histories only where they are kept. */
export async function manifestHash(
  folder: string,
  { keepHistory }: { readonly keepHistory: boolean },
): Promise<string> {
  const paths = (await pathsIn(folder)).filter((path) => keepHistory || !isHistory(path)).sort();
  const rows: string[] = [];
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    rows.push(...(await Promise.all(paths.slice(at, at + AT_ONCE).map((path) => rowOf(folder, path)))));
  }
  return createHash('sha256').update(rows.join('\n')).digest('hex');
}

/** All that is in it, from it. Links are not followed, as they are when only names are asked for. */
export async function pathsIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}

/** A path of version control, at any depth: it can tell how a task was once solved. */
export const isHistory = (path: string) => path.split(/[\\/]/).includes('.git');

async function rowOf(folder: string, path: string): Promise<string> {
  const full = join(folder, path);
  const { mode } = await lstat(full);
  const isRunnable = (mode & 0o111) !== 0;
  return JSON.stringify([path, mode & 0o170000, isRunnable, await contentOf(full, mode & 0o170000)]);
}

const [LINK, FILE] = [0o120000, 0o100000];

async function contentOf(path: string, kind: number): Promise<string> {
  if (kind === LINK) return readlink(path);
  return kind === FILE ? fileHash(path) : '';
}

/** Of a plain file: whoever asks has looked. */
export async function fileHash(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
