import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { TASK_FILE_ENDINGS } from '../read/load-items.ts';
import { tasksInvalid } from '../read/tasks-invalid.ts';

/** As task files, but a list before lines: folders in SkillOpt's layout hold `.json`. */
const ENDINGS = ['.json', ...TASK_FILE_ENDINGS.filter((ending) => ending !== '.json')];

/** The path itself when it is a file. In a folder, the first `.json` file by name, else the first of another format. */
export async function findDataFile(path: string): Promise<string> {
  if (!(await isFolder(path))) return path;
  const names = (await readdir(path)).filter((name) => !name.startsWith('.')).sort();
  const found = ENDINGS.flatMap((ending) => names.filter((name) => extname(name).toLowerCase() === ending))[0];
  if (found !== undefined) return join(path, found);
  const problem = `${path}: expected a file ending in ${ENDINGS.join(', ')}, got ${names.join(', ') || 'an empty folder'}`;
  throw tasksInvalid([problem], 'Put one file with a list of items into it.');
}

/** Also `false` for what does not exist. */
export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ?? false;
}
