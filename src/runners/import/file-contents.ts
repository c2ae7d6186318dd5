import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { bytesBelow, NotCarried, textIn } from '../../envs/index.ts';

/** Files of a task: texts, and in base64 what is none. */
export type FileContents = { readonly files?: Record<string, string>; readonly binaries?: Record<string, string> };

/** A file by the path that it gets, and where it is read from. */
export type Wanted = { readonly path: string; readonly source: string };

/** All files of a task together: they are part of the task, and are kept in memory. */
const MOST_BYTES = 20_000_000;

/** What files below a folder hold. Throws `NotCarried` for one that lies elsewhere, is none, or is too much. */
export async function readContents(folder: string, wanted: readonly Wanted[]): Promise<FileContents> {
  const files: Record<string, string> = {};
  const binaries: Record<string, string> = {};
  let room = MOST_BYTES;
  for (const { path, source } of wanted) {
    const bytes = await bytesBelow(folder, source, room);
    room -= bytes.length;
    const text = textIn(bytes);
    if (text === undefined) binaries[path] = bytes.toString('base64');
    else files[path] = text;
  }
  return { ...(isEmpty(files) ? {} : { files }), ...(isEmpty(binaries) ? {} : { binaries }) };
}

const isEmpty = (record: object) => Object.keys(record).length === 0;

/** The paths of all files in a folder, from there, in order. */
export async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => {
    throw new NotCarried(`there is no folder ${folder}`);
  });
  const files = entries.filter((entry) => !entry.isDirectory());
  return files.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')).sort();
}
