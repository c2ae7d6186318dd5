import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type Libsql from 'libsql';
import type { TranscriptFile, Trouble } from '../transcript-source.ts';
import {
  DamagedRows,
  drive,
  type ForeignDatabase,
  foreignDatabase,
  Obstructed,
  prepareReading,
} from './foreign-rows.ts';
import { troubleCounter } from './lines.ts';
import { statFile } from './list-files.ts';

type Database = InstanceType<typeof Libsql>;

export type DatabaseOutcome<Value> = { readonly value: Value | undefined; readonly trouble: Trouble };
const UNREADABLE = { value: undefined, trouble: { unreadable: 1 } } as const;

/** `undefined`: it does not know the tables. It may be called again, on a copy. */
type Read<Value> = (database: ForeignDatabase) => Value | undefined;
type Options = { readonly signal?: AbortSignal | undefined; readonly maxCopyBytes?: number };

const MAX_COPY_BYTES = 512 * 1024 * 1024;

/**
 * Reads a database of another program, which may be writing it, without changing the file or its folder. What is wrong
 * with it is trouble: only the abort is thrown.
 */
export async function readDatabase<Value>(
  path: string,
  read: Read<Value>,
  { signal, maxCopyBytes = MAX_COPY_BYTES }: Options = {},
): Promise<DatabaseOutcome<Value>> {
  signal?.throwIfAborted();
  const before = await lookAt(path);
  if (before === undefined) return UNREADABLE;
  const inPlace = await attempt(inPlaceUri(path, before), read);
  const isTrusted = before.isGuarded || (await lookAt(path))?.stamp === before.stamp;
  if (isTrusted && inPlace !== 'obstructed') return inPlace;
  if (before.bytes > maxCopyBytes) return { value: undefined, trouble: { 'too-large': 1 } };
  const onCopy = await attemptOnCopy(path, read);
  return onCopy === 'obstructed' ? UNREADABLE : onCopy;
}

/** A database with its log: what has changed may still be only in there. */
export async function statDatabase(path: string): Promise<TranscriptFile | undefined> {
  const [file, log] = [statFile(path), statFile(`${path}-wal`)];
  if (file === undefined || log === undefined) return file;
  return { ...file, size: file.size + log.size, mtimeMs: Math.max(file.mtimeMs, log.mtimeMs) };
}

type Look = {
  readonly bytes: number;
  readonly stamp: string;
  readonly isLogged: boolean;
  /** Whether SQLite's own locks keep writers from changing what is being read. */
  readonly isGuarded: boolean;
};

/** `undefined`: it is no database. */
async function lookAt(path: string): Promise<Look | undefined> {
  const header = await readHeader(path);
  if (header === undefined || !header.subarray(0, 16).equals(MAGIC)) return undefined;
  const parts = await Promise.all(['', '-wal', '-journal'].map((suffix) => stat(path + suffix).catch(() => undefined)));
  const isLogged = (parts[1]?.size ?? 0) > 0;
  return {
    bytes: parts.reduce((sum, part) => sum + (part?.size ?? 0), 0),
    stamp: parts.map((part) => `${part?.ino}:${part?.size}:${part?.mtimeMs}`).join(' '),
    isLogged,
    isGuarded: isLogged || header[18] !== WAL_FORMAT,
  };
}

const MAGIC = Buffer.from('SQLite format 3\0');
const WAL_FORMAT = 2;

async function readHeader(path: string): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, 'r');
    const { buffer, bytesRead } = await file.read(Buffer.alloc(100), 0, 100, 0);
    return bytesRead === 100 ? buffer : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Even a reader makes `-wal` and `-shm` files where there are none, and rewrites a `-shm` that a crash left. So a log is
 * read with its `-shm` as it is, and without a log the file is taken for one that nobody changes, which is checked later.
 */
function inPlaceUri(path: string, { isLogged, isGuarded }: Look): string {
  if (isLogged) return `${pathToFileURL(path).href}?mode=ro&readonly_shm=1`;
  return `${pathToFileURL(path).href}?${isGuarded ? 'mode=ro' : 'immutable=1'}`;
}

type Attempt<Value> = DatabaseOutcome<Value> | 'obstructed';

async function attempt<Value>(uri: string, read: Read<Value>): Promise<Attempt<Value>> {
  const { default: Database } = await import('libsql'); // Here, so that commands without a harvest do not load it.
  const count = troubleCounter();
  let database: Database | undefined;
  try {
    database = drive(() => new Database(uri));
    prepareReading(database);
    const value = read(foreignDatabase(database, count.add));
    if (value === undefined) count.add('unknown-version');
    return { value, trouble: count.trouble };
  } catch (error) {
    if (error instanceof Obstructed) return 'obstructed';
    if (error instanceof DamagedRows) return UNREADABLE;
    throw error;
  } finally {
    database?.close();
  }
}

/** The `-shm` is left behind: the first to open a log makes it again. */
async function attemptOnCopy<Value>(path: string, read: Read<Value>): Promise<Attempt<Value>> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-copy-'));
  const copy = join(folder, 'copy.db');
  try {
    for (const suffix of ['', '-wal', '-journal']) await copyPart(path + suffix, copy + suffix);
    return await attempt(pathToFileURL(copy).href, read);
  } catch (error) {
    if (isFileError(error)) return UNREADABLE;
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

async function copyPart(from: string, to: string): Promise<void> {
  await copyFile(from, to, constants.COPYFILE_FICLONE).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

const isFileError = (error: unknown) => error instanceof Error && 'syscall' in error;
