import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { chunk, type RunCaches } from '../../core/contracts/index.ts';
import { groupBy, memoize } from '../../core/text/index.ts';
import {
  closeDatabase,
  DamagedFile,
  type Database,
  inTransaction,
  openOwnDatabase,
  readStatement,
} from '../own-database.ts';

export type CacheName = Exclude<keyof RunCaches, 'workFolder'>;
export type CacheEntry = { readonly cache: CacheName; readonly key: string; readonly value: string };

/** What `user_version` says of a file with the tables below. Files from before it was written say 0, and have them too. */
const SCHEMA_VERSION = 1;

/**
 * The texts of a run in one SQLite file. What is set survives the process; a crash of the machine may cost the last of it.
 * A file that turns out to be damaged, now or later, is set aside and an empty one begun: that costs money, never the run.
 * When it grows beyond `maxBytes`, the oldest texts are dropped.
 */
export async function openCacheDatabase(
  path: string,
  { maxBytes, onDamage }: { readonly maxBytes: number; readonly onDamage: (aside: string) => void },
) {
  const use = await openOwnDatabase({
    path,
    version: SCHEMA_VERSION,
    hint: 'Update skillopt, or delete the cache: that only costs money.',
    prepare: (database) => prepare(database, maxBytes),
    onDamage,
  });
  return {
    get: (cache: CacheName, key: string) => use(({ tables }) => tables[cache].get(key)),
    /** All or none. The first value under a key stays. What another process sets is seen when the file is opened again. */
    setAll: (entries: readonly CacheEntry[]) => use((connection) => setTexts(connection, entries)),
    close: () => use(({ database }) => closeDatabase(database)),
  };
}
export type CacheDatabase = Awaited<ReturnType<typeof openCacheDatabase>>;

function prepare(database: Database, maxBytes: number) {
  makeTables(database, ['replies', 'rollouts']);
  const tables = { replies: openTable(database, 'replies'), rollouts: openTable(database, 'rollouts') };
  const size = limitCacheSize(database, tables, maxBytes);
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  return { database, tables, begin, commit, size };
}
type Connection = ReturnType<typeof prepare>;

function setTexts(connection: Connection, entries: readonly CacheEntry[]): void {
  const { database, tables, begin, commit, size } = connection;
  const news = entries.filter(({ cache, key }) => !tables[cache].has(key));
  const inserts = groupBy(news, ({ cache }) => cache).flatMap((group) => chunk(group, ROWS_AT_ONCE));
  if (inserts.length > 1) begin.run(); // one statement is a transaction of its own
  try {
    const lastRows = inserts.map((group) => tables[group[0]!.cache].insert(group));
    if (inserts.length > 1) commit.run();
    // Only now: the row of an entry that was rolled back goes to another.
    for (const [index, group] of inserts.entries()) tables[group[0]!.cache].announce(group, lastRows[index]!);
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
  size.added(news.reduce((sum, { key, value }) => sum + key.length + value.length, 0));
}

/** One statement for several rows takes little longer than for one. */
const ROWS_AT_ONCE = 8;

/// <reference lib="es2024.string" />
// For `isWellFormed`: Node has it since 20, and it is far faster than a regular expression.

/** Bytes and never text: the driver ends the process when SQLite hands it text that is not UTF-8. */
type StoredRow = [value: Buffer | null, sum: Buffer | null];

type CacheTable = {
  /** A row that is not as it was written is emptied, and counts as none. */
  get(key: string): string | undefined;
  has(key: string): boolean;
  /** Answers with the id of the last row. They are found only once they are announced: a commit may still fail. */
  insert(entries: readonly CacheEntry[]): number;
  announce(entries: readonly CacheEntry[], lastId: number): void;
  /** The rows up to an id are gone. */
  forget(upTo: number): void;
};

/** Where each text is, is kept in memory. An index in the file would cost half as much again at each commit. */
function openTable(database: Database, name: string): CacheTable {
  const { select, insertOf, blank } = prepareStatements(database, name);
  const rowOf = readKeys(database, name);

  return {
    get(key) {
      const id = rowOf.get(key);
      if (id === undefined) return undefined;
      const row = select.get(id, toStorable(key)) as StoredRow | undefined;
      const text = row && readText(toStorable(key), row);
      if (text !== undefined) return text;
      rowOf.delete(key); // So that it can be set again; also when another process has dropped it.
      if (row) blank.run(id); // Not deleted: ids are counted from the last row, and must never name another text.
      return undefined;
    },
    has: (key) => rowOf.has(key),
    insert: (entries) => Number(insertOf(entries.length).run(entries.flatMap(toRow)).lastInsertRowid),
    announce(entries, lastId) {
      const firstId = lastId - entries.length + 1; // a statement numbers its rows one after the other
      for (const [index, { key }] of entries.entries()) rowOf.set(key, firstId + index);
    },
    forget(upTo) {
      for (const [key, id] of rowOf) if (id <= upTo) rowOf.delete(key);
    },
  };
}

function prepareStatements(database: Database, name: string) {
  const fields = 'CAST(value AS BLOB), CAST(sum AS BLOB)';
  return {
    select: database.prepare<[number, string]>(`SELECT ${fields} FROM ${name} WHERE id = ? AND key = ?`).raw(),
    /** By the number of rows. */
    insertOf: memoize((rows: number) => {
      const values = Array.from({ length: rows }, () => '(?, ?, ?, ?)').join();
      return database.prepare<[(string | number)[]]>(`INSERT INTO ${name} (key, value, created, sum) VALUES ${values}`);
    }),
    blank: database.prepare<[number]>(`UPDATE ${name} SET key = '', value = '', sum = NULL WHERE id = ?`),
  };
}

function toRow(entry: CacheEntry) {
  const [key, value] = [toStorable(entry.key), toStorable(entry.value)];
  return [key, value, Date.now(), sumOf(key, value)];
}

/** Names a row by what is in it. Rows of earlier versions have no sum. */
const sumOf = (key: string, value: string): string => hash('sha256', `${key}\n${value}`).slice(0, 16);

function readText(key: string, [value, sum]: StoredRow): string | undefined {
  const bytes = bytesIn(value);
  if (!isUtf8(bytes)) return undefined;
  const stored = bytes.toString();
  if (sum !== null && sum.toString() !== sumOf(key, stored)) return undefined;
  try {
    return fromStorable(stored);
  } catch {
    return undefined;
  }
}

/** Two processes may have set the same key. The first row is the one that counts, so the last to be read here. */
function readKeys(database: Database, name: string): Map<string, number> {
  const select = database.prepare(`SELECT CAST(key AS BLOB), id FROM ${name} ORDER BY id DESC`).raw();
  return new Map(
    (select.all() as [Buffer | null, number][]).map(([key, id]) => [readKey(bytesIn(key).toString()), id]),
  );
}

/** No column of ours may be empty. Where a page was cut off, one is all the same. */
function bytesIn(column: Buffer | null): Buffer {
  if (column === null) throw new DamagedFile('a text is missing');
  return column;
}

/** A damaged key is one that nobody asks for. */
function readKey(stored: string): string {
  try {
    return fromStorable(stored);
  } catch {
    return stored;
  }
}

const COLUMNS = 'id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, created INTEGER NOT NULL';
const statementOf = (name: string) => `CREATE TABLE ${name} (${COLUMNS}, sum TEXT)`;
const statementWithoutSum = (name: string) => `CREATE TABLE ${name} (${COLUMNS})`;

/**
 * Makes the tables that are missing, and adds what those of an earlier version lack. A table that was made by another
 * statement is damaged: even the name of a type that is not UTF-8 would end the process.
 */
function makeTables(database: Database, names: readonly string[]): void {
  if (names.every((name) => readStatement(database, name) === statementOf(name))) return;
  inTransaction(database, () => {
    for (const name of names) makeTable(database, name);
  });
}

function makeTable(database: Database, name: string): void {
  const statement = readStatement(database, name);
  if (statement === statementOf(name)) return;
  if (statement === undefined) return void database.exec(statementOf(name));
  if (statement !== statementWithoutSum(name)) throw new DamagedFile(`the table ${name} is not ours`);
  database.exec(`ALTER TABLE ${name} ADD COLUMN sum TEXT`);
}

const MARK = '\u0001';

/**
 * Text that a database gives back as it was. SQLite would cut it at a NUL and repair half a surrogate pair,
 * and a resumed run would read another reply than the first one did. Such text, which is rare, is kept as JSON after a mark.
 */
function toStorable(text: string): string {
  const isSafe = !text.startsWith(MARK) && !text.includes('\0') && text.isWellFormed();
  return isSafe ? text : MARK + JSON.stringify(text);
}

const fromStorable = (stored: string): string =>
  stored.startsWith(MARK) ? JSON.parse(stored.slice(MARK.length)) : stored;

/** What a cache that grew beyond its limit is cut down to, so that the next cut is not soon. */
const KEPT_SHARE = 0.8;
/** How many looks at the size it takes to write as much as the limit. */
const LOOKS = 20;

/** Keeps a cache file below `maxBytes`, give or take what is written between two looks. Pages that were freed are used again. */
function limitCacheSize(database: Database, tables: Readonly<Record<CacheName, CacheTable>>, maxBytes: number) {
  const usedBytes = sizeReader(database);
  const trim = () => {
    if (usedBytes() <= maxBytes) return;
    const kept = maxBytes * KEPT_SHARE;
    // By rows, which differ in size: so look again, until it is enough or nothing is left to drop.
    for (let used = usedBytes(); used > kept; used = usedBytes()) {
      const dropped = Object.entries(tables).map(([name, table]) => dropOldest(database, name, table, 1 - kept / used));
      if (dropped.every((rows) => rows === 0)) return;
    }
  };
  let unseen = 0;
  trim();
  return {
    /** Takes the number of characters that were written. From time to time drops the oldest rows if the file is too large. */
    added(characters: number): void {
      unseen += characters;
      if (unseen < maxBytes / LOOKS) return;
      unseen = 0;
      trim();
    },
  };
}

function sizeReader(database: Database): () => number {
  const read = (name: string) => database.prepare(`PRAGMA ${name}`).raw();
  const [pages, free] = [read('page_count'), read('freelist_count')];
  const [pageSize] = read('page_size').get() as [number];
  return () => ((pages.get() as [number])[0] - (free.get() as [number])[0]) * pageSize;
}

export const countRows = (database: Database, table: string): number =>
  (database.prepare(`SELECT count(*) FROM ${table}`).raw().get() as [number])[0];

/** All but the last row may go: ids are counted from it, and the id of a dropped row must never name another text. */
function dropOldest(database: Database, name: string, { forget }: CacheTable, share: number): number {
  const count = countRows(database, name);
  const doomed = Math.min(count - 1, Math.ceil(count * share));
  if (doomed <= 0) return 0;
  const select = database.prepare<[number]>(`SELECT id FROM ${name} ORDER BY id LIMIT 1 OFFSET ?`).raw();
  const row = select.get(doomed - 1) as [number] | undefined;
  if (row === undefined) return 0; // Another process was faster.
  const { changes } = database.prepare<[number]>(`DELETE FROM ${name} WHERE id <= ?`).run(row[0]);
  forget(row[0]);
  return changes;
}
