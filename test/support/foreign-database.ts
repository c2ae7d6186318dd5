import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import Database from 'libsql';

/** Rows by table. What is an object becomes JSON text, as agents store it. */
export type TableRows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** `rollback`: a plain file. `log`: all in a `-wal`, as an agent leaves it that never cleans up. `no-log`: cleaned up. */
export type Journal = 'rollback' | 'log' | 'no-log';

/** A database as another program would have written it, from plain rows. */
export function buildDatabase(path: string, tables: TableRows, journal: Journal = 'rollback'): void {
  const workshop = mkdtempSync(join(tmpdir(), 'skillopt-workshop-'));
  const draft = join(workshop, 'draft.db');
  const database = new Database(draft);
  if (journal !== 'rollback') database.pragma('journal_mode = WAL');
  database.exec('BEGIN'); // One write to the disk, not one a row.
  for (const [table, rows] of Object.entries(tables)) fill(database, table, rows);
  database.exec('COMMIT');
  if (journal === 'no-log') database.pragma('wal_checkpoint(TRUNCATE)');
  mkdirSync(dirname(path), { recursive: true });
  const suffixes = journal === 'log' ? ['', '-wal', '-shm'] : [''];
  for (const suffix of suffixes) if (existsSync(draft + suffix)) copyFileSync(draft + suffix, path + suffix);
  database.close();
  rmSync(workshop, { recursive: true, force: true });
}

function fill(database: InstanceType<typeof Database>, table: string, rows: TableRows[string]): void {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  database.exec(`CREATE TABLE ${table} (${columns.join(', ')})`);
  const insert = database.prepare(`INSERT INTO ${table} VALUES (${columns.map(() => '?').join(', ')})`);
  for (const row of rows) insert.run(...columns.map((column) => toCell(row[column])));
}

const toCell = (value: unknown) =>
  typeof value === 'object' && value !== null && !Buffer.isBuffer(value) ? JSON.stringify(value) : (value ?? null);

export const transcriptFixture = (name: string) => join(import.meta.dirname, '../fixtures/transcripts', name);

export const fixtureRows = (name: string) => JSON.parse(readFileSync(transcriptFixture(name), 'utf8')) as TableRows;
