import { hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type Libsql from 'libsql';
import {
  closeDatabase,
  createPrivate,
  DamagedFile,
  type Database,
  inTransaction,
  openOwnDatabase,
  openStateFolder,
  readStatement,
  readVersion,
  requireOwn,
  shownPath,
} from '../../stores/index.ts';
import type { SessionDigest, TranscriptFile, Trouble } from '../../transcripts/index.ts';

/** What is known of a session without its texts, which stay in the transcript until a night reads them. */
export type SessionHead = Readonly<
  Pick<SessionDigest, 'source' | 'sessionId' | 'project' | 'folder' | 'startedAt' | 'endedAt' | 'leftOut'>
> &
  Readonly<Pick<SessionDigest, 'nUserTurns' | 'nAssistantTurns'>>;

/** The folder by which a session is found and ignored: the shown projects of two homes may look alike. */
export const folderOf = ({ folder, project }: Pick<SessionHead, 'folder' | 'project'>): string => folder ?? project;

/** What is known of a transcript file without opening it. */
export type IndexedFile = TranscriptFile & {
  readonly source: string;
  /** When it was looked at, in milliseconds; before it was read. */
  readonly checkedAt: number;
  readonly position: number;
  /** A hash of its beginning and end: distinguishes a file that grew from one that was written again. */
  readonly print: string;
  readonly trouble: Trouble;
  readonly heads: readonly SessionHead[];
};

export interface SessionIndex extends Disposable {
  /** How often it was damaged and begun again since it was opened. */
  readonly damages: number;
  files(): readonly IndexedFile[];
  put(files: readonly IndexedFile[]): void;
  drop(files: readonly Pick<IndexedFile, 'source' | 'path'>[]): void;
}

export const INDEX_FILE = 'index.db';

/** Raise it when sources find other facts: files are then read again. */
const INDEX_FORMAT = 6;

const TABLE =
  'CREATE TABLE files (id INTEGER PRIMARY KEY, key TEXT NOT NULL, facts TEXT NOT NULL, facts_sum TEXT NOT NULL)';

type Row = { readonly ids: readonly number[]; readonly file: IndexedFile | undefined };
type Connection = ReturnType<typeof prepare>;
type Tables = Omit<Connection, 'database'>;

/** Opens `index.db` in the state folder. A damaged one is set aside and reported; transcripts are then read again. */
export async function openSessionIndex(
  folder: string,
  { onWarning = () => undefined }: { readonly onWarning?: (warning: string) => void } = {},
): Promise<SessionIndex> {
  const path = join(await openStateFolder(folder), INDEX_FILE);
  await createPrivate(path);
  for (const suffix of ['-wal', '-shm']) await requireOwn(path + suffix, 'file');
  let damages = 0;
  const use = await openOwnDatabase<Connection>({
    path,
    version: INDEX_FORMAT,
    hint: 'Update skillopt, or delete the index: transcripts are then read again.',
    prepare,
    onDamage(aside) {
      damages += 1;
      closeSync(openSync(path, 'wx', 0o600)); // the driver would make one that others can read
      onWarning(`the index was damaged and is now ${shownPath(aside)}; transcripts are read again`);
    },
  });
  let isOpen = true;
  return {
    get damages() {
      return damages;
    },
    files: () => use(({ rows }) => [...rows.values()].flatMap(({ file }) => file ?? [])),
    put: (files) => use((connection) => changeAll(connection, files, putAll)),
    drop: (files) => use((connection) => changeAll(connection, files, dropAll)),
    [Symbol.dispose]() {
      if (isOpen) use(({ database }) => closeDatabase(database));
      isOpen = false;
    },
  };
}

/** As JSON: SQLite would cut a text at a NUL and change half a surrogate pair. */
const keyOf = ({ source, path }: Pick<IndexedFile, 'source' | 'path'>) => JSON.stringify([source, path]);

function prepare(database: Database) {
  database.pragma('secure_delete = ON'); // purged texts must not stay in free pages
  const isReady = readVersion(database) === INDEX_FORMAT && readStatement(database, 'files') === TABLE;
  if (!isReady) inTransaction(database, () => makeTable(database));
  return { database, rows: readRows(database), statements: prepareStatements(database) };
}

function makeTable(database: Database): void {
  const statement = readStatement(database, 'files');
  const isOld = readVersion(database) < INDEX_FORMAT;
  if (statement !== undefined && statement !== TABLE && !isOld) throw new DamagedFile('the table files is not ours');
  if (statement !== undefined && isOld) database.exec('DROP TABLE files');
  if (statement === undefined || isOld) database.exec(TABLE);
}

function prepareStatements(database: Database) {
  return {
    insert: database.prepare<string[]>('INSERT INTO files (key, facts, facts_sum) VALUES (?, ?, ?)'),
    remove: database.prepare<[number]>('DELETE FROM files WHERE id = ?'),
    select: database.prepare<[number]>('SELECT CAST(facts AS BLOB) FROM files WHERE id = ?').raw(),
  };
}

/** Reads bytes and never text: the driver ends the process when SQLite hands it text that is not UTF-8. */
function readRows(database: Database): Map<string, Row> {
  const columns = ['key', 'facts', 'facts_sum'].map((name) => `CAST(${name} AS BLOB)`).join(', ');
  const select: Libsql.Statement<[]> = database.prepare<[]>(`SELECT id, ${columns} FROM files ORDER BY id`).raw();
  const rows = new Map<string, Row>();
  for (const [id, ...texts] of select.all() as [number, Buffer, Buffer, Buffer][]) {
    const [key, facts, sum] = texts.map(String) as [string, string, string];
    const file = sum === sumOf(key, facts) ? (JSON.parse(facts) as IndexedFile) : undefined;
    rows.set(key, { ids: [...(rows.get(key)?.ids ?? []), id], file }); // two processes may have added the same file
  }
  return rows;
}

const sumOf = (key: string, text: string) => hash('sha256', `${key}\n${text}`, 'hex').slice(0, 16);

/** No transaction without entries: it would wait for a writer and for the disk. */
const changeAll = <Entry>(
  { database, ...tables }: Connection,
  entries: readonly Entry[],
  change: (tables: Tables, entries: readonly Entry[]) => void,
) => (entries.length === 0 ? undefined : inTransaction(database, () => change(tables, entries)));

function putAll({ rows, statements }: Tables, files: readonly IndexedFile[]): void {
  for (const file of files) {
    const [key, facts] = [keyOf(file), JSON.stringify(file)];
    for (const id of rows.get(key)?.ids ?? []) statements.remove.run(id);
    const { lastInsertRowid } = statements.insert.run(key, facts, sumOf(key, facts));
    rows.set(key, { ids: [Number(lastInsertRowid)], file });
    // A page that was cut off reads as empty, and what is added to it is lost.
    const [kept] = (statements.select.get(Number(lastInsertRowid)) ?? []) as [Buffer?];
    if (kept === undefined || !kept.equals(Buffer.from(facts)))
      throw new DamagedFile('it does not keep what is written');
  }
}

function dropAll({ rows, statements }: Tables, files: readonly Pick<IndexedFile, 'source' | 'path'>[]): void {
  for (const key of files.map(keyOf)) {
    for (const id of rows.get(key)?.ids ?? []) statements.remove.run(id);
    rows.delete(key);
  }
}

/** Drops the files that hold a session of such a project. Returns their number. */
export async function forgetProject(folder: string, isOf: (project: string) => boolean): Promise<number> {
  using index = await openSessionIndex(folder);
  const files = index.files().filter(({ heads }) => heads.some((head) => isOf(folderOf(head))));
  index.drop(files);
  return files.length;
}

/** In milliseconds, whatever the zone it was written in; `NaN` when not known. */
export const timeOf = ({ endedAt, startedAt = '' }: { readonly endedAt: string; readonly startedAt?: string }) =>
  Date.parse(endedAt || startedAt);

/** The print of every SQLite file: it may change anywhere, and its reader knows what is new. */
export const DATABASE = 'database';

const EDGE_BYTES = 1_024;
const SQLITE_MAGIC = 'SQLite format 3\0';

/** A hash of the edges of the first `size` bytes: it changes when a file is written again. Empty if it cannot be read. */
export function printOf(path: string, size: number): string {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    const head = bytesOf(file, 0, Math.min(size, EDGE_BYTES));
    if (head.subarray(0, SQLITE_MAGIC.length).toString('latin1') === SQLITE_MAGIC) return DATABASE;
    const tail = bytesOf(file, Math.max(head.length, size - EDGE_BYTES), size);
    return hash('sha256', Buffer.concat([head, tail]), 'hex').slice(0, 16);
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function bytesOf(file: number, start: number, end: number): Buffer {
  const buffer = Buffer.alloc(Math.max(0, end - start));
  return buffer.subarray(0, readSync(file, buffer, 0, buffer.length, start));
}
