import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Where files are laid; in a view, its upper folder, with the one below it. */
export type Laid = { readonly folder: string; readonly lower?: string | undefined };

/**
 * Writes files into a folder that a command has changed. What stands in the way is replaced: a link could lead to a file of
 * someone else, and a pipe would never be read. Nothing may run in the folder meanwhile.
 */
export async function layFiles(laid: Laid, files: Files): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await requireFolders(laid, dirname(path));
    await write(join(laid.folder, path), content);
  }
}

async function requireFolders(laid: Laid, path: string): Promise<void> {
  if (path === '.') return;
  await requireFolders(laid, dirname(path));
  const full = join(laid.folder, path);
  const there = await lstat(full).catch(() => undefined);
  if (there?.isDirectory()) return;
  await rm(full, { force: true });
  await mkdir(full);
  if (there && laid.lower !== undefined) await hideLower(full, join(laid.lower, path));
}

/** A folder that was removed from a view comes back empty: each thing in the lower one is marked as removed, as the kernel does. */
async function hideLower(folder: string, lower: string): Promise<void> {
  const names = await readdir(lower).catch(() => []);
  const marks = names.map((name) => join(folder, name));
  if (marks.length > 0)
    await execa('/bin/sh', ['-c', 'for mark; do mknod "$mark" c 0 0 || exit 1; done', 'sh', ...marks]);
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await rm(path, { recursive: true, force: true });
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants; // Windows has no links to follow
  const mode = namesInterpreter(content) ? 0o755 : 0o644;
  await using file = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  await file.writeFile(content);
}

/** What names its interpreter is meant to be run. */
export const namesInterpreter = (content: string | Uint8Array): boolean =>
  typeof content === 'string' ? content.startsWith('#!') : content[0] === 0x23 && content[1] === 0x21;
