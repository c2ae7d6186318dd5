import { constants, fstatSync, linkSync, lstatSync, readSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { access, type FileHandle, lstat, open, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { fileReason, isFileError, isMissing, NO_FOLLOW } from '../../stores/index.ts';
import {
  type AnyFile,
  digestOrNull,
  idOf,
  ifThere,
  isReal,
  type Located,
  locate,
  type OpenFolder,
  type Replacement,
  refused,
} from './locate.ts';

/** A file as it was when it was checked. Its handle keeps the old file readable. */
export interface Target extends Located, AsyncDisposable {
  readonly bytes: Buffer | null;
  readonly before: Buffer | null;
  readonly handle: FileHandle | undefined;
  readonly info: Stats | undefined;
  readonly folderId: string;
}

export async function openTarget(replacement: Replacement, roots: readonly string[]): Promise<Target> {
  const checked = await openChecked(replacement, roots);
  const { path, before } = checked;
  const isNothing = replacement.bytes === null && before === null;
  if (!isNothing && digestOrNull(before) === replacement.expected) return { ...checked, bytes: replacement.bytes };
  await checked[Symbol.asyncDispose]();
  throw changed(path, before);
}

async function openChecked(
  { path, realPath, isAnyFile }: Pick<Replacement, 'path' | 'realPath' | 'isAnyFile'>,
  roots: readonly string[],
): Promise<Omit<Target, 'bytes'>> {
  const located = await locate(path, roots, { isAnyFile });
  if (realPath !== undefined && realPath !== located.realPath) {
    const hint = 'Nothing was written. Look at the link. If it is right, start again from the file that it leads to.';
    throw refused(`${path} led to ${realPath}, and leads to ${located.realPath} now`, hint);
  }
  const folderId = located.newFolders.length > 0 ? '' : await checkFolder(dirname(located.realPath));
  const { handle, info } = (await openLive(located.realPath)) ?? {};
  const before = handle ? readWhole(handle.fd) : null;
  return { ...located, folderId, before, handle, info, [Symbol.asyncDispose]: async () => handle?.close() };
}

/** A document as it is now. Its bytes are null if there is none. */
export type ReadDocument = Pick<Located, 'path' | 'realPath'> & {
  readonly bytes: Buffer | null;
  readonly digest: string | null;
};

/** Reads a document that could be replaced now. Refuses any other one. `realPath` is where the path must still lead. */
export async function readDocument(
  path: string,
  roots: readonly string[],
  { realPath, isAnyFile }: AnyFile & { readonly realPath?: string | undefined } = {},
): Promise<ReadDocument> {
  await using checked = await openChecked({ path, realPath, isAnyFile }, roots);
  const { before: bytes } = checked;
  return { path: checked.path, realPath: checked.realPath, bytes, digest: digestOrNull(bytes) };
}

export function changed(path: string, now: Uint8Array | null): Error {
  const what = now === null ? 'is not there any more' : 'holds other text than expected';
  const hint = 'Nothing was written over it. Look at the file, and start again.';
  return refused(`${path} ${what}: somebody changed it`, hint);
}

async function checkFolder(folder: string): Promise<string> {
  const info = await stat(folder);
  await requireWritable(folder, info);
  return idOf(info);
}

/** The mode counts for the superuser too: a person made the file read-only on purpose. */
async function requireWritable(path: string, { mode, uid }: Stats): Promise<void> {
  const code = await access(path, constants.W_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === undefined && (mode & 0o222) !== 0) return;
  if (code === 'EROFS') throw refused(`${path} lies on a file system that is mounted read-only`, 'Mount it writable.');
  const own = process.getuid?.() ?? uid;
  const foreign = `${path} may not be written by you: it belongs to another user (uid ${uid})`;
  if (own !== uid && own !== 0) throw refused(foreign, 'Run this as that user.');
  throw refused(`${path} is read-only`, `Make it writable, if that is meant: chmod u+w ${path}`);
}

async function openLive(path: string) {
  const seen = await ifThere(lstat(path));
  if (seen === undefined) return undefined;
  if (!seen.isFile())
    throw refused(`expected a regular file at ${path}, got something else`, 'Move it out of the way.');
  if (seen.nlink > 1) {
    const what = `${path} has ${seen.nlink} names (hard links): replacing it would part them`;
    throw refused(what, `Make it a file of its own: cp ${path} ${path}.new && mv ${path}.new ${path}`);
  }
  await requireWritable(path, seen);
  const handle = await open(path, constants.O_RDONLY | NO_FOLLOW);
  const info = await handle.stat();
  if (idOf(info) === idOf(seen)) return { handle, info };
  await handle.close();
  throw changed(path, null);
}

/** Synchronous, so that nothing else of this process runs between the last check and the swap. */
export function readWhole(fd: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(fd).size);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(fd, bytes, length, bytes.length - length, length);
  }
  return bytes.subarray(0, length);
}

/** Throws unless the same file with the same bytes and one name is at `livePath`, or still none. The name is checked last. */
export function requireUntouched({ path, handle, info, before }: Target, livePath: string): void {
  const bytes = handle ? readWhole(handle.fd) : null;
  if (bytes && !bytes.equals(before!)) throw changed(path, bytes);
  const now = lstatSync(livePath, { throwIfNoEntry: false });
  const isSame = info && now ? idOf(now) === idOf(info) && now.nlink === 1 : info === now;
  if (!isSame) throw changed(path, now ? Buffer.alloc(0) : null);
}

type FileMode = { readonly mode: number; readonly uid?: number; readonly gid?: number };

/** Writes new bytes beside the live file, safe on disk, with the mode and owner of the old file. */
export async function writeDraft(path: string, bytes: Buffer, like: FileMode | undefined): Promise<void> {
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

async function makeAlike(draft: FileHandle, { mode, uid, gid }: FileMode): Promise<void> {
  const own = await draft.stat();
  if (uid !== undefined && gid !== undefined && (own.uid !== uid || own.gid !== gid)) await draft.chown(uid, gid);
  await draft.chmod(mode & 0o7777);
}

type Swap = { readonly draft: string; readonly live: string; readonly isNew: boolean };

/** Puts the draft in the place of the live file. Readers find the old bytes or the new ones. */
export function swapIn({ draft, live, isNew }: Swap): void {
  if (isNew && linkNew(draft, live)) unlinkSync(draft);
  else renameSync(draft, live);
}

/** Fails if the file exists. False if the file system has no links. */
function linkNew(draft: string, live: string): boolean {
  try {
    linkSync(draft, live);
    return true;
  } catch (error) {
    if (isFileError(error) && error.code === 'EEXIST') throw error;
    return false;
  }
}

/** The bytes of a file. Null if there is none, undefined if it is no regular file. */
export async function readLive(folder: OpenFolder, name: string): Promise<Buffer | null | undefined> {
  try {
    return await readFile(folder.at(name), { flag: constants.O_RDONLY | NO_FOLLOW | (constants.O_NONBLOCK ?? 0) });
  } catch (error) {
    if (isMissing(error)) return null;
    if (isFileError(error) && ['ELOOP', 'EISDIR', 'EINVAL'].includes(error.code ?? '')) return undefined;
    throw error;
  }
}

/** Removes folders that were made for a file, if they are empty. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) if (await isReal(folder)) await rmdir(folder).catch(() => undefined);
}

export const removeDraft = (folder: OpenFolder, name: string) => rm(folder.at(name), { force: true });

/** An error of the operating system as a refusal. The old bytes are still there. */
export function asRefusal(error: unknown, path: string): unknown {
  if (!isFileError(error)) return error;
  const what = `${path} was not written: ${fileReason(error)}`;
  return refused(what, `${basename(path)} is as it was. Free or unlock the place, and start again.`, error);
}
