/// <reference lib="es2024.string" />
// For `isWellFormed`: Node has it since 20, and it is far faster than a regular expression.
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { DamagedFile, type Database, inTransaction, readStatement } from '../own-database.ts';

/** Bytes and never text: the driver ends the process when SQLite hands it text that is not UTF-8. */
type StoredRow = [value: Buffer, sum: Buffer | null];

export type CacheTable = {
  /** A row that is not as it was written is emptied, and counts as none. */
  get(key: string): string | undefined;
  has(key: string): boolean;
  /** Answers with the id of the row. It is found only once it is announced: a commit may still fail. */
  insert(key: string, value: string): number;
  announce(key: string, id: number): void;
  /** The rows up to an id are gone. */
  forget(upTo: number): void;
  lastId(): number;
  /** The texts after an id, in order. */
  after(id: number): string[];
};

/** Where each text is, is kept in memory. An index in the file would cost half as much again at each commit. */
export function openTable(database: Database, name: string): CacheTable {
  const { select, selectAfter, insert, blank } = prepareStatements(database, name);
  const rowOf = readKeys(database, name);
  let last = Math.max(0, ...lastOf(database, name));

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
    insert(key, value) {
      const [storedKey, storedValue] = [toStorable(key), toStorable(value)];
      const { lastInsertRowid } = insert.run(storedKey, storedValue, Date.now(), sumOf(storedKey, storedValue));
      return Number(lastInsertRowid);
    },
    announce(key, id) {
      rowOf.set(key, id);
      last = Math.max(last, id);
    },
    forget(upTo) {
      for (const [key, id] of rowOf) if (id <= upTo) rowOf.delete(key);
    },
    lastId: () => last,
    after(id) {
      const rows = selectAfter.all(id) as [Buffer, ...StoredRow][];
      return rows.flatMap(([key, ...row]) => readText(key.toString(), row) ?? []);
    },
  };
}

function prepareStatements(database: Database, name: string) {
  const fields = 'CAST(value AS BLOB), CAST(sum AS BLOB)';
  return {
    select: database.prepare<[number, string]>(`SELECT ${fields} FROM ${name} WHERE id = ? AND key = ?`).raw(),
    selectAfter: database
      .prepare<[number]>(`SELECT CAST(key AS BLOB), ${fields} FROM ${name} WHERE id > ? ORDER BY id`)
      .raw(),
    insert: database.prepare<[string, string, number, string]>(
      `INSERT INTO ${name} (key, value, created, sum) VALUES (?, ?, ?, ?)`,
    ),
    blank: database.prepare<[number]>(`UPDATE ${name} SET key = '', value = '', sum = NULL WHERE id = ?`),
  };
}

/** Names a row by what is in it. Rows of earlier versions have no sum. */
function sumOf(key: string, value: string): string {
  return createHash('sha256').update(`${key}\n${value}`).digest('hex').slice(0, 16);
}

function readText(key: string, [value, sum]: StoredRow): string | undefined {
  if (!isUtf8(value)) return undefined;
  const stored = value.toString();
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
  return new Map((select.all() as [Buffer, number][]).map(([key, id]) => [readKey(key.toString()), id]));
}

/** A damaged key is one that nobody asks for. */
function readKey(stored: string): string {
  try {
    return fromStorable(stored);
  } catch {
    return stored;
  }
}

function lastOf(database: Database, name: string): number[] {
  return database.prepare(`SELECT id FROM ${name} ORDER BY id DESC LIMIT 1`).raw().all().flat() as number[];
}

const COLUMNS = 'id INTEGER PRIMARY KEY, key TEXT NOT NULL, value TEXT NOT NULL, created INTEGER NOT NULL';
const statementOf = (name: string) => `CREATE TABLE ${name} (${COLUMNS}, sum TEXT)`;
const statementWithoutSum = (name: string) => `CREATE TABLE ${name} (${COLUMNS})`;

/**
 * Makes the tables that are missing, and adds what those of an earlier version lack. A table that was made by another
 * statement is damaged: even the name of a type that is not UTF-8 would end the process.
 */
export function makeTables(database: Database, names: readonly string[]): void {
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
 * Text that a database gives back as it was. SQLite would cut it at a NUL and mend half a surrogate pair,
 * and a resumed run would read another reply than the first one did. Such text, which is rare, is kept as JSON behind a mark.
 */
function toStorable(text: string): string {
  const isSafe = !text.startsWith(MARK) && !text.includes('\0') && text.isWellFormed();
  return isSafe ? text : MARK + JSON.stringify(text);
}

function fromStorable(stored: string): string {
  return stored.startsWith(MARK) ? JSON.parse(stored.slice(MARK.length)) : stored;
}
