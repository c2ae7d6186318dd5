import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { copyFile, mkdtemp, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isArrayBuffer } from 'node:util/types';
import type Libsql from 'libsql';
import type {
  ReadOptions,
  ReadSoFar,
  SessionDigest,
  TranscriptFile,
  Trouble,
  TroubleKind,
} from '../transcript-source.ts';
import { troubleCounter } from './lines.ts';
import { statFile } from './list-files.ts';

type Database = InstanceType<typeof Libsql>;

type DatabaseOutcome<Value> = { readonly value: Value | undefined; readonly trouble: Trouble };
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

/** Columns by name, each with its SQL expression, and the rest of the statement. */
type Query<Text extends string, Figure extends string> = {
  readonly texts?: Readonly<Record<Text, string>>;
  readonly figures?: Readonly<Record<Figure, string>>;
  readonly from: string;
};
type Row<Text extends string, Figure extends string> = Readonly<
  Record<Text, string | undefined> & Record<Figure, number | undefined>
>;

export type ForeignDatabase = {
  /** Throws `DamagedRows` when this part of the file cannot be read; others may be fine. */
  rows<Text extends string = never, Figure extends string = never>(
    query: Query<Text, Figure>,
    ...values: readonly (string | number)[]
  ): readonly Row<Text, Figure>[];
  /** Whether it is a plain table with all these columns: a view could compute for ever. */
  hasTable(table: string, columns: readonly string[]): boolean;
  count(kind: TroubleKind): void;
};

class DamagedRows extends Error {}
/** Another process holds the file, or its log cannot be opened here: a copy may be read. */
class Obstructed extends Error {}

/** Nothing in somebody else's schema may run code, and a file that shrinks while it is mapped would end the process. */
function prepareReading(database: Database): void {
  const settings = ['busy_timeout = 2000', 'mmap_size = 0', 'query_only = ON', 'trusted_schema = OFF'];
  for (const setting of [...settings, 'cell_size_check = ON']) drive(() => database.pragma(setting));
}

function foreignDatabase(database: Database, count: (kind: TroubleKind) => void): ForeignDatabase {
  const all = (sql: string, values: readonly (string | number)[]) =>
    drive(() => database.prepare(sql).all(...values)) as Record<string, unknown>[];
  const rows: ForeignDatabase['rows'] = ({ texts = {}, figures = {}, from }, ...values) =>
    all(`SELECT ${selected(texts, figures)} ${from}`, values).map((row) => decode(row, texts, figures, count));
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

type Expressions = Readonly<Record<string, string>>;

/** Text comes as bytes, for the driver ends the whole process at a text that is not UTF-8. */
function selected(texts: Expressions, figures: Expressions): string {
  const cast =
    (type: string) =>
    ([name, expression]: [string, string]) =>
      `CAST(${expression} AS ${type}) AS ${name}`;
  return [...Object.entries(texts).map(cast('BLOB')), ...Object.entries(figures).map(cast('INTEGER'))].join(', ');
}

function decode<Text extends string, Figure extends string>(
  row: Record<string, unknown>,
  texts: Readonly<Record<Text, string>> | object,
  figures: Readonly<Record<Figure, string>> | object,
  count: (kind: TroubleKind) => void,
): Row<Text, Figure> {
  const decoded: Record<string, unknown> = {};
  for (const name of Object.keys(figures)) decoded[name] = row[name] ?? undefined;
  for (const name of Object.keys(texts)) decoded[name] = toText(row[name], count);
  return decoded as Row<Text, Figure>;
}

function toText(bytes: unknown, count: (kind: TroubleKind) => void): string | undefined {
  if (!isArrayBuffer(bytes)) return undefined;
  if (!isUtf8(bytes)) count('invalid-utf8');
  return Buffer.from(bytes).toString('utf8');
}

/** Every call of the driver. A statement is always read to its end: until then it would keep the agent from writing. */
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
type Reading<Row> = {
  readonly file: TranscriptFile;
  readonly options: ReadOptions;
  readonly count: (kind: TroubleKind) => void;
  readonly read: (row: Row) => SessionDigest | undefined;
};

/**
 * The sessions of a database, of which only those are read that its own clock says have changed. One that is gone from
 * the database is gone from what is kept. One that is damaged keeps what was read before, and the clock stays behind it.
 */
export function changedSessions<Row extends SessionRow>(rows: readonly Row[], reading: Reading<Row>): ReadSoFar {
  const { file, options, count, read } = reading;
  const known = new Map(options.before?.sessions.map((session) => [session.sessionId, session]));
  const since = options.before?.position ?? 0;
  const sessions: SessionDigest[] = [];
  let [position, damagedMs] = [0, Number.POSITIVE_INFINITY];
  for (const row of rows) {
    options.signal?.throwIfAborted();
    const before = known.get(row.id ?? '');
    const updatedMs = clockOf(row, file);
    const isSame = before !== undefined && updatedMs > 0 && updatedMs < since;
    const session = isSame ? before : tried(() => read(row));
    if (session === 'damaged') count('unreadable');
    if (session === 'damaged') damagedMs = Math.min(damagedMs, updatedMs);
    position = Math.max(position, updatedMs);
    const kept = session === 'damaged' ? before : session;
    if (kept !== undefined) sessions.push(kept);
  }
  return { position: Math.max(0, Math.min(position, damagedMs - 1)), sessions };
}

function tried<Value>(read: () => Value): Value | 'damaged' {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamagedRows) return 'damaged';
    throw error;
  }
}

const DAY_MS = 86_400_000;

/** A time after the file was last written is a fault, and would hide everything that comes later. */
function clockOf({ updatedMs = 0 }: SessionRow, { mtimeMs }: TranscriptFile): number {
  return updatedMs > 0 && updatedMs < mtimeMs + DAY_MS ? updatedMs : 0;
}
