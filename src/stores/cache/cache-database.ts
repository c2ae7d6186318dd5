import { accessSync, constants, existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type Libsql from 'libsql';
import type { RunCaches } from '../../core/cache.ts';
import { SkillError } from '../../core/errors.ts';
import { unwritable } from '../file-error.ts';
import { freePath } from '../own-place.ts';
import { shownPath } from '../shown-path.ts';
import { type CacheSize, limitCacheSize } from './cache-size.ts';
import { type CacheTable, DamagedCache, makeTables, openTable } from './cache-table.ts';

export type CacheName = keyof RunCaches;
export type CacheEntry = { readonly cache: CacheName; readonly key: string; readonly value: string };

export type CacheDatabase = {
  get(cache: CacheName, key: string): string | undefined;
  /** All or none. The first value under a key stays. What another process sets is seen when the file is opened again. */
  setAll(entries: readonly CacheEntry[]): void;
  /** A number for all that is set; larger when more is. */
  mark(cache: CacheName): number;
  /** What was set after a mark was taken. All, when that was in a file that is gone. */
  since(cache: CacheName, mark: number): string[];
  close(): void;
};

type Database = InstanceType<typeof Libsql>;
type Connection = {
  readonly database: Database;
  readonly tables: Readonly<Record<CacheName, CacheTable>>;
  readonly begin: Libsql.Statement<[]>;
  readonly commit: Libsql.Statement<[]>;
  readonly size: CacheSize;
};

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
): Promise<CacheDatabase> {
  const { default: Database } = await import('libsql'); // Here, so that commands without a run do not load it.
  const use = mendingConnection(path, () => connect(new Database(path), path, maxBytes), onDamage);
  use(() => undefined); // Now, so that a place that cannot be written is known before the run begins.
  return {
    get: (cache, key) => use(({ tables }) => tables[cache].get(key)),
    setAll: (entries) => use((connection) => setTexts(connection, entries)),
    mark: (cache) => use(({ tables }) => tables[cache].lastId()),
    since: (cache, mark) => use(({ tables }) => tables[cache].after(mark > tables[cache].lastId() ? 0 : mark)),
    close: () => use(({ database }) => close(database)),
  };
}

type Use = <Answer>(work: (connection: Connection) => Answer) => Answer;

/** Does the work again on a new, empty file when the one at hand is damaged. */
function mendingConnection(path: string, connect: () => Connection, onDamage: (aside: string) => void): Use {
  let connection: Connection | undefined;
  return (work) => {
    try {
      connection ??= connect();
      return work(connection);
    } catch (error) {
      if (!isDamage(error)) throw isDatabaseError(error) ? unwritable(path, error) : error;
    }
    connection?.database.close();
    onDamage(setAside(path));
    connection = connect();
    return work(connection);
  };
}

function connect(database: Database, path: string, maxBytes: number): Connection {
  try {
    database.pragma('busy_timeout = 10000'); // First: even the change to WAL may have to wait for another process.
    requireKnownVersion(database, path);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('cache_size = -8000');
    makeTables(database, ['replies', 'rollouts']);
    const tables = { replies: openTable(database, 'replies'), rollouts: openTable(database, 'rollouts') };
    if (readVersion(database) < SCHEMA_VERSION) database.pragma(`user_version = ${SCHEMA_VERSION}`);
    const size = limitCacheSize(database, Object.entries(tables).map(toTrimmed), maxBytes);
    const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
    return { database, tables, begin, commit, size };
  } catch (error) {
    database.close();
    throw isUnusable(error, path) ? new DamagedCache('the file is not as it was written') : error;
  }
}

/** Our statements never change, and the place can be written: what SQLite still has against them is about the file. */
function isUnusable(error: unknown, path: string): boolean {
  if (!isDatabaseError(error)) return false;
  if (error.code === 'SQLITE_ERROR') return true;
  return error.code === 'SQLITE_READONLY' && isWritable(path) && isWritable(dirname(path));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function requireKnownVersion(database: Database, path: string): void {
  const version = readVersion(database);
  if (version <= SCHEMA_VERSION) return;
  const message = `${shownPath(path)} is of version ${version}, but this skillopt writes version ${SCHEMA_VERSION}`;
  const hint = 'Update skillopt, or delete the cache: that only costs money.';
  throw new SkillError('RUN_UNWRITABLE', message, { hint });
}

function readVersion(database: Database): number {
  return (database.prepare('PRAGMA user_version').raw().get() as [number])[0];
}

const toTrimmed = ([name, { forget }]: [string, CacheTable]) => ({ name, forget });

function setTexts(connection: Connection, entries: readonly CacheEntry[]): void {
  const { database, tables, begin, commit, size } = connection;
  const news = entries.filter(({ cache, key }) => !tables[cache].has(key));
  if (news.length > 1) begin.run(); // one statement is a transaction of its own
  try {
    const rows = news.map(({ cache, key, value }) => tables[cache].insert(key, value));
    if (news.length > 1) commit.run();
    // Only now: the row of an entry that was rolled back goes to another.
    for (const [index, { cache, key }] of news.entries()) tables[cache].announce(key, rows[index]!);
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
  size.added(news.reduce((sum, { key, value }) => sum + key.length + value.length, 0));
}

/** The driver lets go of the file only when it collects the statements, so the log is emptied by hand. */
function close(database: Database): void {
  database.pragma('wal_checkpoint(TRUNCATE)');
  database.close();
}

/** The log moves along: it belongs to the damaged file, and would be replayed into the new one. */
function setAside(path: string): string {
  const aside = freePath(`${path}.corrupt-`);
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
  }
  return aside;
}

/** What SQLite says, such as a full disk. The driver's own complaints are `TypeError`s, and bugs. */
function isDatabaseError(error: unknown): error is Error & { code: string } {
  if (error instanceof TypeError || error instanceof SkillError) return false;
  return error instanceof Error && 'code' in error && typeof error.code === 'string';
}

function isDamage(error: unknown): boolean {
  return isDatabaseError(error) && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code);
}
