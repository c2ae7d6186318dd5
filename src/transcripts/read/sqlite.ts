import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isArrayBuffer } from 'node:util/types';
import type Libsql from 'libsql';
import {
  keptName,
  type ReadOptions,
  type ReadSoFar,
  type SessionDigest,
  type TranscriptFile,
  type Trouble,
  type TroubleKind,
} from '../transcript-source.ts';
import { troubleCounter } from './lines.ts';
import { statFile } from './list-files.ts';

type Database = InstanceType<typeof Libsql>;

type DatabaseOutcome<Value> = { readonly value: Value | undefined; readonly trouble: Trouble };
const UNREADABLE = { value: undefined, trouble: { unreadable: 1 } } as const;

/** Returns `undefined` for unknown tables. May be called again, on a copy. */
type Read<Value> = (database: ForeignDatabase) => Value | undefined;
type Options = { readonly signal?: AbortSignal | undefined; readonly maxCopyBytes?: number };

const MAX_COPY_BYTES = 512 * 1024 * 1024;

/**
 * Reads a database that another program may be writing, without changing the file or its folder. Problems are counted.
 * Throws only when aborted.
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

/** The sessions of a database; those that were read before, if it cannot be read now. */
export async function readSessionsIn(file: TranscriptFile, options: ReadOptions, read: Read<ReadSoFar>) {
  const { value, trouble } = await readDatabase(file.path, read, options);
  return { ...(value ?? options.before ?? { position: 0, sessions: [] }), trouble };
}

export async function statDatabase(path: string): Promise<TranscriptFile | undefined> {
  const [file, log] = [statFile(path), statFile(`${path}-wal`)];
  if (file === undefined || log === undefined) return file;
  return { ...file, size: file.size + log.size, mtimeMs: Math.max(file.mtimeMs, log.mtimeMs) };
}

type DatabaseLook = {
  readonly bytes: number;
  readonly stamp: string;
  readonly isLogged: boolean;
  /** Whether the locks of SQLite keep writers from changing rows that are being read. */
  readonly isGuarded: boolean;
};

async function lookAt(path: string): Promise<DatabaseLook | undefined> {
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
 * Even a reader creates missing `-wal` and `-shm` files, and rewrites a `-shm` that a crash left. So a log is read with its
 * `-shm` as it is. Without a log the file counts as immutable, and `readDatabase` checks that afterwards.
 */
function inPlaceUri(path: string, { isLogged, isGuarded }: DatabaseLook): string {
  if (isLogged) return `${pathToFileURL(path).href}?mode=ro&readonly_shm=1`;
  return `${pathToFileURL(path).href}?${isGuarded ? 'mode=ro' : 'immutable=1'}`;
}

type Attempt<Value> = DatabaseOutcome<Value> | 'obstructed';

async function attempt<Value>(uri: string, read: Read<Value>): Promise<Attempt<Value>> {
  const { default: Database } = await import('libsql'); // commands without a harvest do not load it
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

/** Without the `-shm`, which is made again when the log is opened. */
async function attemptOnCopy<Value>(path: string, read: Read<Value>): Promise<Attempt<Value>> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-copy-'));
  const copy = join(folder, 'copy.db');
  try {
    for (const suffix of ['', '-wal', '-journal'])
      await copyFile(path + suffix, copy + suffix, constants.COPYFILE_FICLONE).catch((error) => {
        if (error.code !== 'ENOENT') throw error;
      });
    return await attempt(pathToFileURL(copy).href, read);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) return UNREADABLE; // an error of the file system
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
}

type Query<Text extends string, Figure extends string> = {
  readonly texts?: Readonly<Record<Text, string>>;
  readonly figures?: Readonly<Record<Figure, string>>;
  readonly from: string;
};
type Row<Text extends string, Figure extends string> = Readonly<
  Record<Text, string | undefined> & Record<Figure, number | undefined>
>;

export type ForeignDatabase = {
  /** Throws `DamagedRows` if this part of the file cannot be read. Other parts may be readable. */
  rows<Text extends string = never, Figure extends string = never>(
    query: Query<Text, Figure>,
    ...values: readonly (string | number)[]
  ): readonly Row<Text, Figure>[];
  /** Whether it is a plain table with all these columns. A view could compute for ever. */
  hasTable(table: string, columns: readonly string[]): boolean;
  count(kind: TroubleKind): void;
};

class DamagedRows extends Error {}
/** Another process holds the file, or its log cannot be opened here. A copy may be readable. */
class Obstructed extends Error {}

/** A foreign schema must not run code, and a mapped file that shrinks would end the process. */
function prepareReading(database: Database): void {
  const settings = ['busy_timeout = 2000', 'mmap_size = 0', 'query_only = ON', 'trusted_schema = OFF'];
  for (const setting of [...settings, 'cell_size_check = ON']) drive(() => database.pragma(setting));
}

function foreignDatabase(database: Database, count: (kind: TroubleKind) => void): ForeignDatabase {
  const rows: ForeignDatabase['rows'] = ({ texts = {}, figures = {}, from }, ...values) => {
    // Text comes as bytes: the driver ends the whole process at a text that is not UTF-8.
    const columns = [
      ...Object.entries(texts).map(([name, expression]) => `CAST(${expression} AS BLOB) AS ${name}`),
      ...Object.entries(figures).map(([name, expression]) => `CAST(${expression} AS INTEGER) AS ${name}`),
    ];
    const found = drive(() => database.prepare(`SELECT ${columns.join(', ')} ${from}`).all(...values)) as object[];
    const decode = ([name, value]: [string, unknown]) => [
      name,
      name in texts ? toText(value, count) : (value ?? undefined),
    ];
    return found.map((row) => Object.fromEntries(Object.entries(row).map(decode)));
  };
  return {
    rows,
    count,
    hasTable(table, columns) {
      const kind = `FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql NOT LIKE 'create virtual%'`;
      if (rows({ figures: { one: '1' }, from: kind }, table).length === 0) return false;
      const found = rows({ texts: { name: 'name' }, from: 'FROM pragma_table_info(?)' }, table);
      return columns.every((column) => found.some(({ name }) => name === column));
    },
  };
}

function toText(bytes: unknown, count: (kind: TroubleKind) => void): string | undefined {
  if (!isArrayBuffer(bytes)) return undefined;
  if (!isUtf8(bytes)) count('invalid-utf8');
  return Buffer.from(bytes).toString('utf8');
}

/** Every call of the driver. Statements are read to their end: an open one would keep the agent from writing. */
function drive<Value>(call: () => Value): Value {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    const code = 'code' in error ? String(error.code) : '';
    throw OBSTACLE.test(code) ? new Obstructed(code) : new DamagedRows(code);
  }
}

const OBSTACLE = /^SQLITE_(BUSY|LOCKED|CANTOPEN|READONLY|PROTOCOL|IOERR|PERM)/;

type SessionRow = { readonly id: string | undefined; readonly updatedMs: number | undefined };
type SessionReading<Row> = {
  readonly file: TranscriptFile;
  readonly options: ReadOptions;
  readonly count: (kind: TroubleKind) => void;
  readonly read: (row: Row) => SessionDigest | undefined;
};

/**
 * The sessions of a database. Only those are read that have changed by the clock of the database. A damaged session keeps
 * what was read before, and the position stays before it, so that it is read again.
 */
export function changedSessions<Row extends SessionRow>(rows: readonly Row[], reading: SessionReading<Row>): ReadSoFar {
  const { file, options, count, read } = reading;
  const { redact = String } = options;
  const known = new Map(options.before?.sessions.map((session) => [session.sessionId, session]));
  const since = options.before?.position ?? 0;
  const sessions: SessionDigest[] = [];
  let [position, damagedMs] = [0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    options.signal?.throwIfAborted();
    if (options.only?.has(keptName(row.id ?? '', redact)) === false) continue;
    const before = known.get(row.id ?? '');
    const updatedMs = clockOf(row, file);
    const isSame = before !== undefined && updatedMs > 0 && updatedMs < since;
    position = Math.max(position, updatedMs);
    let kept = before;
    try {
      if (!isSame) kept = read(row);
    } catch (error) {
      if (!(error instanceof DamagedRows)) throw error;
      count('unreadable');
      damagedMs = Math.min(damagedMs, updatedMs);
    }
    if (kept !== undefined) sessions.push(kept);
  }
  return { position: Math.max(0, Math.min(position, damagedMs - 1)), sessions };
}

const DAY_MS = 86_400_000;

/** A time after the last write of the file is wrong, and would hide everything that comes later. */
function clockOf({ updatedMs = 0 }: SessionRow, { mtimeMs }: TranscriptFile): number {
  return updatedMs > 0 && updatedMs < mtimeMs + DAY_MS ? updatedMs : 0;
}
