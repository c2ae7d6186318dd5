import { readdir } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { plural } from '../../core/text/index.ts';
import { findDataFile } from '../../envs/index.ts';
import { loadItems, type Row, TASK_FILE_ENDINGS, tasksInvalid } from '../../imports/index.ts';
import type { RowReader } from '../benchmark.ts';
import type { DataFiles } from './data-files.ts';

/** The rows of all task files in a folder. Those in a folder that is called as a split stand in that split. */
export async function findRows({ files }: RowReader): Promise<readonly Row[]> {
  const names = await rowFiles(files);
  const lists = await Promise.all(
    names.map(async (name) => inSplitOf(name, await loadItems(await files.pathOf(name)))),
  );
  return lists.flat();
}

/** The names of the files that may hold rows. Throws if there is none. */
export async function rowFiles(files: DataFiles): Promise<string[]> {
  const names = (await files.names()).filter(mayHoldRows);
  if (names.length > 0) return names;
  const links = (await files.links()).length;
  const skipped = links === 0 ? '' : `; ${plural(links, 'link')} to other files ${links === 1 ? 'is' : 'are'} left out`;
  const problem = `${files.roots[0]}: expected files ending in ${TASK_FILE_ENDINGS.join(', ')}, got none${skipped}`;
  const hint = links === 0 ? '' : ` ${COPY_LINKS}`;
  throw tasksInvalid([problem], `Name the folder that holds what you downloaded.${hint}`);
}

/** The one task file of a folder: of several, it would be a guess which is meant. */
export async function oneDataFile(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.') && mayHoldRows(name)).sort();
  if (names.length < 2) return findDataFile(folder);
  throw tasksInvalid([`${folder}: expected one task file, got ${names.join(', ')}`], ONE_FILE);
}

const ONE_FILE = 'Put all items of a split into one file. bench pull reads several, and writes one for each split.';

/** Caches of downloads hold links to files elsewhere. */
export const COPY_LINKS = 'To read what links point to, copy it first: cp -RL FOLDER COPY.';

export const mayHoldRows = (name: string) =>
  TASK_FILE_ENDINGS.includes(extname(name).toLowerCase()) && !NO_ROWS.test(basename(name));

/** Files that lie beside data and hold none. */
const NO_ROWS = /^(bench|split_manifest|package(-lock)?|dataset_infos?|skillopt\.config)\.\w+$/;

const SPLIT_FOLDERS = ['train', 'val', 'test', 'valid_seen', 'valid_unseen'];

/** The rows of a file, in the split that its folder is called. */
export function inSplitOf(name: string, rows: readonly Row[]): readonly Row[] {
  const split = basename(dirname(name));
  return SPLIT_FOLDERS.includes(split) ? rows.map((row) => ({ ...row, split })) : rows;
}
