import { constants, fstatSync, lstatSync, readSync, type Stats } from 'node:fs';
import { access, type FileHandle, lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NO_FOLLOW } from '../../stores/index.ts';
import { type AnyFile, ifThere, type Located, locate } from './locate.ts';
import { idOf } from './open-folder.ts';
import { digestOrNull, type Replacement, refused } from './replacement.ts';

/** A file that may be replaced, as it was when it was checked. Its handle keeps the old file readable afterwards. */
export interface Target extends Located, AsyncDisposable {
  readonly bytes: Buffer | null;
  readonly before: Buffer | null;
  readonly handle: FileHandle | undefined;
  readonly info: Stats | undefined;
  /** Of the folder; empty where it is not there yet. */
  readonly folderId: string;
}

/** Checks a replacement, and changes nothing. Throws `DOCUMENT_REFUSED` with the reason. */
export async function openTarget(replacement: Replacement, roots: readonly string[]): Promise<Target> {
  const place = await openPlace(replacement, roots);
  const isNothing = replacement.bytes === null && place.before === null;
  if (!isNothing && digestOrNull(place.before) === replacement.expected) return { ...place, bytes: replacement.bytes };
  await place[Symbol.asyncDispose]();
  throw changed(place.path, place.before);
}

type Place = Omit<Target, 'bytes'>;

async function openPlace(
  { path, realPath, isAnyFile }: Pick<Replacement, 'path' | 'realPath' | 'isAnyFile'>,
  roots: readonly string[],
): Promise<Place> {
  const located = await locate(path, roots, { isAnyFile });
  if (realPath !== undefined && realPath !== located.realPath) {
    throw refused(`${path} led to ${realPath}, and leads to ${located.realPath} now`, LINK_HINT);
  }
  const folderId = located.newFolders.length > 0 ? '' : await checkFolder(dirname(located.realPath));
  const { handle, info } = (await openLive(located.realPath)) ?? {};
  const before = handle ? readWhole(handle.fd) : null;
  return { ...located, folderId, before, handle, info, [Symbol.asyncDispose]: async () => handle?.close() };
}

/** A document as it is now. */
export type ReadDocument = Pick<Located, 'path' | 'realPath'> & {
  /** Null where there is none. */
  readonly bytes: Buffer | null;
  readonly digest: string | null;
};

/**
 * Reads a document that could be replaced now; what could not be is refused before anybody works for it. `realPath` is where
 * the path led before, if it must still lead there.
 */
export async function readDocument(
  path: string,
  roots: readonly string[],
  { realPath, isAnyFile }: AnyFile & { readonly realPath?: string | undefined } = {},
): Promise<ReadDocument> {
  await using place = await openPlace({ path, realPath, isAnyFile }, roots);
  return { path: place.path, realPath: place.realPath, bytes: place.before, digest: digestOrNull(place.before) };
}

const LINK_HINT = 'Look at the link. If it is right, a new night starts from the file that it leads to.';

type Live = { readonly handle: FileHandle; readonly info: Stats };

export function changed(path: string, now: Uint8Array | null): Error {
  const what = now === null ? 'is not there any more' : 'holds other text than expected';
  return refused(
    `${path} ${what}: somebody changed it`,
    'Nothing was written over it. Look at the file, and start again.',
  );
}

async function checkFolder(folder: string): Promise<string> {
  const info = await stat(folder);
  await requireWritable(folder, info);
  return idOf(info);
}

/** The mode counts for the superuser too: a person who made a file read-only meant it. */
async function requireWritable(path: string, { mode, uid }: Stats): Promise<void> {
  const code = await access(path, constants.W_OK).then(
    () => undefined,
    (error: NodeJS.ErrnoException) => error.code,
  );
  if (code === undefined && (mode & 0o222) !== 0) return;
  if (code === 'EROFS') throw refused(`${path} lies on a file system that is mounted read-only`, 'Mount it writable.');
  const own = process.getuid?.() ?? uid;
  if (own !== uid && own !== 0)
    throw refused(
      `${path} may not be written by you: it belongs to another user (uid ${uid})`,
      'Run this as that user.',
    );
  throw refused(`${path} is read-only`, `Make it writable, if that is meant: chmod u+w ${path}`);
}

async function openLive(path: string): Promise<Live | undefined> {
  const seen = await ifThere(lstat(path));
  if (seen === undefined) return undefined;
  if (!seen.isFile())
    throw refused(`${path} is no regular file, and a Markdown file was expected`, 'Move it out of the way.');
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

/** Synchronous, as the last look before a file is replaced must be: nothing else of this process comes in between. */
export function readWhole(fd: number): Buffer {
  const bytes = Buffer.alloc(fstatSync(fd).size);
  let length = 0;
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(fd, bytes, length, bytes.length - length, length);
  }
  return bytes.subarray(0, length);
}

/**
 * Throws unless the same file with the same bytes and one name stands at `livePath`, or none where there was none. The look
 * at the name comes last, as near to the swap as it can be.
 */
export function requireUntouched({ path, handle, info, before }: Target, livePath: string): void {
  const bytes = handle ? readWhole(handle.fd) : null;
  if (bytes && !bytes.equals(before!)) throw changed(path, bytes);
  const now = lstatSync(livePath, { throwIfNoEntry: false });
  const isSame = info && now ? idOf(now) === idOf(info) && now.nlink === 1 : info === now;
  if (!isSame) throw changed(path, now ? Buffer.alloc(0) : null);
}
