import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isFilledByPrograms } from './kept-back.ts';
import type { ProjectFile } from './tracked-files.ts';

/** What lies in a folder that is no repository, but for what programs put there. Stops beyond `most`. */
export async function plainFiles(folder: string, most: number): Promise<ProjectFile[]> {
  const found: ProjectFile[] = [];
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined && found.length <= most; below = waiting.pop()) {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (!entry.isDirectory()) found.push(await toFile(folder, path));
      else if (!isFilledByPrograms(entry.name)) waiting.push(path);
    }
  }
  return found;
}

async function toFile(folder: string, path: string): Promise<ProjectFile> {
  const there = await lstat(join(folder, path));
  const kind = there.isFile() ? 'file' : there.isSymbolicLink() ? 'link' : 'other';
  return { path, kind, isRunnable: (there.mode & 0o111) !== 0, size: there.size };
}
