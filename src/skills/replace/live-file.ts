import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { constants, type FileHandle, open, readFile, rm, rmdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileReason, isFileError, isMissing, NO_FOLLOW } from '../../stores/index.ts';
import { isReal, type OpenFolder } from './open-folder.ts';
import { refused } from './replacement.ts';

/** Of the old file; the owner only where it is known. */
type Like = { readonly mode: number; readonly uid?: number; readonly gid?: number };

/** New bytes beside the live file, whole and safe on disk, with the mode and owner of the old one. */
export async function writeDraft(path: string, bytes: Buffer, like: Like | undefined): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW;
  const draft = await open(path, flags, like ? 0o600 : 0o644);
  try {
    await draft.writeFile(bytes);
    if (like) await makeAlike(draft, like);
    await draft.sync();
  } finally {
    await draft.close();
  }
}

async function makeAlike(draft: FileHandle, { mode, uid, gid }: Like): Promise<void> {
  const own = await draft.stat();
  if (uid !== undefined && gid !== undefined && (own.uid !== uid || own.gid !== gid)) await draft.chown(uid, gid);
  await draft.chmod(mode & 0o7777);
}

type Swap = { readonly draft: string; readonly live: string; readonly isNew: boolean };

/** Puts the draft in the place of the live file: readers find the old bytes or the new ones. */
export function swapIn({ draft, live, isNew }: Swap): void {
  if (isNew && linkNew(draft, live)) unlinkSync(draft);
  else renameSync(draft, live);
}

/** A new name that stands over nothing. False where the file system has no links. */
function linkNew(draft: string, live: string): boolean {
  try {
    linkSync(draft, live);
    return true;
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') throw error;
    return false;
  }
}

/** What stands there now: the bytes, null for nothing, undefined for what is no file. */
export async function readLive(folder: OpenFolder, name: string): Promise<Buffer | null | undefined> {
  try {
    return await readFile(folder.at(name), { flag: constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0) });
  } catch (error) {
    if (isMissing(error)) return null;
    if (isFileError(error) && ['ELOOP', 'EISDIR', 'EINVAL'].includes(error.code ?? '')) return undefined;
    throw error;
  }
}

/** Folders that were made for a file that did not come. One with something in it stays. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) if (await isReal(folder)) await rmdir(folder).catch(() => undefined);
}

export const removeDraft = (folder: OpenFolder, name: string) => rm(folder.at(name), { force: true });

/** What the operating system refuses, as a refusal: the old bytes are still there. */
export function asRefusal(error: unknown, path: string): unknown {
  if (!isFileError(error)) return error;
  const what = `${path} was not written: ${fileReason(error)}`;
  return refused(what, `${basename(path)} is as it was. Free or unlock the place, and start again.`, error);
}
