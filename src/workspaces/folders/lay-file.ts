import { constants } from 'node:fs';
import { lstat, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Writes a file into a folder that a command has changed. What stands in the way is replaced: a link could lead to a file of
 * someone else, and a pipe would never be read. Nothing may run in the folder meanwhile.
 */
export async function layFile(folder: string, path: string, content: string | Uint8Array): Promise<void> {
  const names = dirname(path) === '.' ? [] : dirname(path).split('/');
  let parent = folder;
  for (const name of names) {
    parent = join(parent, name);
    await requireFolder(parent);
  }
  const target = join(folder, path);
  await rm(target, { recursive: true, force: true });
  const file = await open(target, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINK, 0o644);
  try {
    await file.writeFile(content);
  } finally {
    await file.close();
  }
}

const NO_LINK = constants.O_NOFOLLOW ?? 0; // Windows has none

async function requireFolder(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there?.isDirectory()) return;
  await rm(path, { force: true });
  await mkdir(path);
}
