import { constants, existsSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import type Libsql from 'libsql';
import { SkillError } from '../core/contracts/index.ts';
import { freePath, mayAccess, shownPath, unwritable } from './own-files.ts';

export type Database = InstanceType<typeof Libsql>;
type Connected = { readonly database: Database };
type Use<Connection> = <Answer>(work: (connection: Connection) => Answer) => Answer;

type OwnDatabase<Connection> = {
  readonly path: string;
  /** What `user_version` says of a file with our tables. A larger one is of a later version of ours, and is refused. */
  readonly version: number;
  /** What the user can do about a later version. */
  readonly hint: string;
  /** Makes the tables that are missing and prepares statements; throws `DamagedFile` when a table is not as we make it. */
  prepare(database: Database): Connection;
  onDamage(aside: string): void;
};

/**
 * A database that can be made again. One that turns out to be damaged, now or later, is set aside, an empty one is begun
 * and the work is done again.
 */
export async function openOwnDatabase<Connection extends Connected>(
  own: OwnDatabase<Connection>,
): Promise<Use<Connection>> {
  const { default: Driver } = await import('libsql'); // Here, so that commands without a database do not load it.
  const { path, onDamage } = own;
  let connection: Connection | undefined;
  const use: Use<Connection> = (work) => {
    try {
      connection ??= connect(new Driver(path), own);
      return work(connection);
    } catch (error) {
      if (!isDamage(error)) throw isDatabaseError(error) ? unwritable(path, error) : error;
    }
    connection?.database.close();
    onDamage(setAside(path));
    connection = connect(new Driver(path), own);
    return work(connection);
  };
  use(() => undefined); // Now, so that a place that cannot be written is known before the work begins.
  return use;
}

function connect<Connection>(database: Database, own: OwnDatabase<Connection>): Connection {
  try {
    database.pragma('busy_timeout = 10000'); // First: even the change to WAL may have to wait for another process.
    requireKnownVersion(database, own);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('cache_size = -8000');
    const connection = own.prepare(database);
    if (readVersion(database) < own.version) database.pragma(`user_version = ${own.version}`);
    return connection;
  } catch (error) {
    database.close();
    throw isUnusable(error, own.path) ? new DamagedFile('the file is not as it was written') : error;
  }
}

/** Our statements never change, and the place can be written: what SQLite still has against them is about the file. */
function isUnusable(error: unknown, path: string): boolean {
  if (!isDatabaseError(error)) return false;
  if (error.code === 'SQLITE_ERROR') return true;
  return error.code === 'SQLITE_READONLY' && isWritable(path) && isWritable(dirname(path));
}

const isWritable = (path: string) => mayAccess(path, constants.W_OK);

function requireKnownVersion(database: Database, own: Pick<OwnDatabase<never>, 'path' | 'version' | 'hint'>): void {
  const version = readVersion(database);
  if (version <= own.version) return;
  const message = `${shownPath(own.path)} is of version ${version}, but this skillopt writes version ${own.version}`;
  throw new SkillError('RUN_UNWRITABLE', message, { hint: own.hint });
}

export const readVersion = (database: Database): number =>
  (database.prepare('PRAGMA user_version').raw().get() as [number])[0];

/** How a table was made, or `undefined`. One made by another statement is damaged: even a name in it that is not UTF-8 would end the process. */
export function readStatement(database: Database, name: string): string | undefined {
  const select = database.prepare<[string]>(`SELECT CAST(sql AS BLOB) FROM sqlite_master WHERE name = ?`).raw();
  const [statement] = (select.get(name) ?? []) as [Buffer?];
  return statement?.toString();
}

/** All of it or nothing. Another process that is about to do the same waits. */
export function inTransaction<Answer>(database: Database, work: () => Answer): Answer {
  database.exec('BEGIN IMMEDIATE');
  try {
    const answer = work();
    database.exec('COMMIT');
    return answer;
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The driver lets go of the file only when it collects the statements, so the log is emptied by hand. */
export function closeDatabase(database: Database): void {
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

const isDamage = (error: unknown): boolean => isDatabaseError(error) && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code);

/** What SQLite itself has not noticed. */
export class DamagedFile extends Error {
  readonly code = 'SQLITE_CORRUPT';
}
