import { accessSync, constants, existsSync } from 'node:fs';
import { lstat, mkdir, open } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';

/** For opening a file that may be there already. The author of a planted link would choose what we write to. */
export const NO_FOLLOW = constants.O_NOFOLLOW ?? 0; // Windows has none, and few links

/** Makes the folders from `directory` down to `folder`. Throws `RUN_UNWRITABLE` when one of them is a link. */
export async function makeOwnFolder(directory: string, folder: string): Promise<void> {
  let path = directory;
  for (const name of relative(directory, folder).split(sep)) {
    path = join(path, name);
    if (await refuseLink(path)) continue; // most are there: asking costs less than an error
    await mkdir(path).catch(async (error) => {
      if (!isTaken(error)) throw error;
      await refuseLink(path); // another was faster
    });
  }
}

/** Answers whether anything is there. */
export async function refuseLink(path: string): Promise<boolean> {
  const found = await orIfMissing(lstat(path), undefined);
  if (!found?.isSymbolicLink()) return found !== undefined;
  throw new SkillError('RUN_UNWRITABLE', `${shownPath(path)} is a link, and a run writes only into its own folder`, {
    hint: 'Delete the link and start again, or choose another run directory (outRoot).',
  });
}

/** The first of `stem1`, `stem2` … that nothing stands at. */
export function freePath(stem: string): string {
  let number = 1;
  while (existsSync(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}

/** A new file that is safe on disk when this returns. Throws when something stands there. */
export async function writeSynced(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, 'wx', mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes what was renamed or created in a folder safe. Windows cannot do that, and does not need it. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  await folder.sync().finally(() => folder.close());
}

/**
 * A folder, and those above it where they are missing. Node's own way never ends where the system says of a new folder that
 * it is not there, as below /proc.
 */
export async function makeFolder(path: string, options: { readonly mode?: number } = {}): Promise<void> {
  const error = await tryMake(path, options);
  if (error === undefined) return;
  if (error.code !== 'ENOENT' || dirname(path) === path) throw error;
  await makeFolder(dirname(path), options);
  const again = await tryMake(path, options);
  if (again !== undefined) throw again;
}

/** The error of the system; nothing if the folder is there now. If a file is in its place, `recursive` throws. */
async function tryMake(path: string, options: { readonly mode?: number }): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, options);
  } catch (error) {
    const failure = error as NodeJS.ErrnoException;
    if (failure.code !== 'EEXIST') return failure;
    await mkdir(path, { recursive: true });
  }
}

/** Whether this process may read (`R_OK`), write or run what is at a path. */
export function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/** An error of the operating system about a file, such as a full disk. */
export const isFileError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

export const isMissing = (error: unknown): boolean =>
  isFileError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

/** What was asked of the file system, or `otherwise` when nothing is there. */
export const orIfMissing = async <Answer, Otherwise>(asked: Promise<Answer>, otherwise: Otherwise) =>
  asked.catch((error) => {
    if (isMissing(error)) return otherwise;
    throw error;
  });

/** Something is there already. */
export const isTaken = (error: unknown) => isFileError(error) && error.code === 'EEXIST';

/** A place that is not ours to write, unlike one that is full or broken. */
export const isForbidden = (error: unknown): boolean =>
  isFileError(error) && ['EACCES', 'EPERM', 'EROFS'].includes(error.code ?? '');

/** The reason without the path and the system call, which the message around it names already. */
export function fileReason(error: unknown): string {
  const reason = systemReason(error);
  const plain = PLAIN_REASONS[String((error as { code?: unknown } | undefined)?.code)];
  return plain === undefined ? reason : `${plain} (${reason})`;
}

function systemReason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isFileError(error) ? message.replace(/, \w+( '.*)?$/s, '') : message;
}

/** What stops a run most often, in plain words. */
const PLAIN_REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  SQLITE_FULL: 'the disk is full',
  EDQUOT: 'your quota of this disk is used up',
  EFBIG: 'a file would be larger than this process may write',
  ELOOP: 'it is a link, and a run writes only into its own folder',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many files are open; allow more (ulimit -n 1024)',
  ENFILE: 'too many files are open on this machine',
};

/** The error of a run that cannot be kept: a full disk, a read-only folder, a file in the way. */
export function unwritable(path: string, cause: unknown): SkillError {
  const hint = 'Free or unlock the place and start again, or choose a run directory that can be written (outRoot).';
  return new SkillError('RUN_UNWRITABLE', `${shownPath(path)} cannot be written: ${fileReason(cause)}`, {
    cause,
    hint,
  });
}

/** Errors about files become `RUN_UNWRITABLE`; others stay. */
export const asUnwritable = (path: string, error: unknown) => (isFileError(error) ? unwritable(path, error) : error);

/** The error of a folder of runs that is there and cannot be read. */
export const unreadable = (path: string, cause: unknown): SkillError =>
  new SkillError('RUN_NOT_FOUND', `${shownPath(path)} cannot be read: ${systemReason(cause)}`, {
    cause,
    hint: 'Check whose it is and whether you may read it, for example with ls -ld; or name another place.',
  });

/** A path as a person would type it: from where they are when it lies below, else in full. */
export function shownPath(path: string, cwd = process.cwd()): string {
  const fromHere = relative(cwd, path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}
