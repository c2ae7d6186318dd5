import { constants, existsSync, type Stats } from 'node:fs';
import { mkdir, open, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isFileError, NO_FOLLOW } from '../../stores/index.ts';
import { ifThere } from './locate.ts';
import { refused } from './replacement.ts';

/** A folder that stays the same one while it is open, whatever becomes of its path. */
export interface OpenFolder extends AsyncDisposable {
  readonly path: string;
  /** Device and inode. */
  readonly id: string;
  /** Whether entries are found by the folder itself, not by its path. */
  readonly isAnchored: boolean;
  /** The path of an entry in it. */
  at(name: string): string;
  /** Whether the path still leads to this folder, and no link stands in it. */
  isInPlace(): Promise<boolean>;
  sync(): Promise<void>;
}

/** Opens a folder by its real path. A link is refused. */
export async function openFolder(path: string): Promise<OpenFolder> {
  const folder = await open(path, constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | NO_FOLLOW).catch((error) => {
    throw isFileError(error) && ['ELOOP', 'ENOTDIR'].includes(error.code ?? '') ? moved(path) : error;
  });
  const id = idOf(await folder.stat());
  // Linux finds entries by the open folder: a parent that is renamed or swapped for a link leads nothing astray.
  const handle = `/proc/self/fd/${folder.fd}`;
  const isAnchored = process.platform === 'linux' && existsSync(handle);
  return {
    path,
    id,
    isAnchored,
    at: (name) => join(isAnchored ? handle : path, name),
    isInPlace: async () => (await isReal(path)) && idOf(await stat(path)) === id,
    sync: () => (process.platform === 'win32' ? Promise.resolve() : folder.sync()),
    [Symbol.asyncDispose]: () => folder.close(),
  };
}

/** Makes a folder, which must not be there. */
export async function makeFolder(path: string): Promise<void> {
  await using parent = await openFolder(dirname(path));
  if (!(await parent.isInPlace())) throw moved(parent.path);
  await mkdir(parent.at(basename(path)), 0o755).catch((error) => {
    throw isFileError(error) && error.code === 'EEXIST' ? moved(path) : error;
  });
  await parent.sync();
}

export const idOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

export const isReal = async (path: string) => (await ifThere(realpath(path))) === path;

export const moved = (path: string) =>
  refused(`${path} was moved or swapped for another while it was looked at`, 'Start again; look first who moves it.');
