import type Libsql from 'libsql';
import type { RunCaches } from '../../core/contracts/index.ts';
import { closeDatabase, type Database, useOwnDatabase } from '../own-database.ts';
import { type CacheSize, limitCacheSize } from './cache-size.ts';
import { type CacheTable, makeTables, openTable } from './cache-table.ts';

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
  const use = await useOwnDatabase({
    path,
    version: SCHEMA_VERSION,
    hint: 'Update skillopt, or delete the cache: that only costs money.',
    prepare: (database) => prepare(database, maxBytes),
    onDamage,
  });
  return {
    get: (cache, key) => use(({ tables }) => tables[cache].get(key)),
    setAll: (entries) => use((connection) => setTexts(connection, entries)),
    mark: (cache) => use(({ tables }) => tables[cache].lastId()),
    since: (cache, mark) => use(({ tables }) => tables[cache].after(mark > tables[cache].lastId() ? 0 : mark)),
    close: () => use(({ database }) => closeDatabase(database)),
  };
}

function prepare(database: Database, maxBytes: number): Connection {
  makeTables(database, ['replies', 'rollouts']);
  const tables = { replies: openTable(database, 'replies'), rollouts: openTable(database, 'rollouts') };
  const size = limitCacheSize(database, Object.entries(tables).map(toTrimmed), maxBytes);
  const [begin, commit] = [database.prepare('BEGIN IMMEDIATE'), database.prepare('COMMIT')];
  return { database, tables, begin, commit, size };
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
