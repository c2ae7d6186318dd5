import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it } from 'vitest';
import { type ForeignDatabase, readDatabase, statDatabase } from '../../../src/transcripts/read/sqlite.ts';
import { buildDatabase, type Journal } from '../../support/foreign-database.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const tables = {
  note: [
    { id: 1, text: 'one' },
    { id: 2, text: 'two' },
  ],
};
const readNotes = (database: ForeignDatabase) =>
  database.hasTable('note', ['id', 'text'])
    ? database.rows({ texts: { text: 'text' }, figures: { id: 'id' }, from: 'FROM note ORDER BY id' })
    : undefined;
const notes = [
  { id: 1, text: 'one' },
  { id: 2, text: 'two' },
];

/** Everything about a folder that a reader could change. */
const footprint = (folder: string) =>
  readdirSync(folder).map((name) => {
    const { mtimeMs, ino, mode } = statSync(join(folder, name));
    return {
      name,
      mtimeMs,
      ino,
      mode,
      sum: createHash('sha256')
        .update(readFileSync(join(folder, name)))
        .digest('hex'),
    };
  });
const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('skillopt-copy-'));

/** Another process, which has the database open until it is disposed. */
async function startOwner(path: string, sql: string) {
  const script = `const d = new (require('libsql'))(process.argv[1]); d.exec(process.argv[2]);
    console.log('open'); setInterval(() => d, 1000)`;
  const owner = spawn(process.execPath, ['-e', script, path, sql], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(owner.stdout, 'data');
  return {
    async [Symbol.asyncDispose]() {
      owner.kill('SIGKILL');
      await once(owner, 'exit');
    },
  };
}

describe('reading a database of another program', () => {
  it.each<Journal>(['rollback', 'log', 'no-log'])(
    'leaves every byte of it and of its folder alone (%s)',
    async (journal) => {
      using folder = tempFolder();
      const path = join(folder.path, 'a b#?.db');
      buildDatabase(path, tables, journal);
      const before = footprint(folder.path);
      expect(await readDatabase(path, readNotes)).toEqual({ value: notes, trouble: {} });
      expect(footprint(folder.path)).toEqual(before);
    },
  );

  it('reads beside a program that has it open, and sees what is only in its log', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'live.db');
    const create = "CREATE TABLE note (id, text); INSERT INTO note VALUES (1, 'one'), (2, 'two')";
    await using _ = await startOwner(path, `PRAGMA journal_mode = WAL; ${create}`);
    const before = footprint(folder.path);
    expect(before.map(({ name }) => name)).toEqual(['live.db', 'live.db-shm', 'live.db-wal']);
    expect(await readDatabase(path, readNotes)).toEqual({ value: notes, trouble: {} });
    expect(footprint(folder.path)).toEqual(before);
  });

  it('reads a copy when the log has no index, and leaves no copy behind', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'crashed.db');
    buildDatabase(path, tables, 'log');
    rmSync(`${path}-shm`);
    const [before, copiesBefore] = [footprint(folder.path), copies()];
    expect(await readDatabase(path, readNotes)).toEqual({ value: notes, trouble: {} });
    expect(footprint(folder.path)).toEqual(before);
    expect(copies()).toEqual(copiesBefore);
  });

  it('reads a copy when another process holds the file', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'locked.db');
    buildDatabase(path, tables);
    await using _ = await startOwner(path, 'BEGIN EXCLUSIVE');
    const before = footprint(folder.path);
    expect(await readDatabase(path, readNotes)).toEqual({ value: notes, trouble: {} });
    expect(footprint(folder.path)).toEqual(before);
  });

  it('copies nothing over the limit', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'large.db');
    buildDatabase(path, tables, 'log');
    rmSync(`${path}-shm`);
    const outcome = await readDatabase(path, readNotes, { maxCopyBytes: 1_000 });
    expect(outcome).toEqual({ value: undefined, trouble: { 'too-large': 1 } });
  });

  it('reads text that is not UTF-8, at which the driver would end the process', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'latin.db');
    buildDatabase(path, { note: [{ id: 1, text: 'caf\u00e9' }] });
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('caf\u00e9') + 3] = 0xff;
    writeFileSync(path, bytes);
    const { value, trouble } = await readDatabase(path, readNotes);
    expect(value?.[0]?.text).toMatch(/^caf\uFFFD+$/);
    expect(trouble).toEqual({ 'invalid-utf8': 1 });
  });

  it.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['is something else', 'no database at all, but a text that is long enough to have a header'.repeat(3)],
  ])('one that %s is unreadable', async (_, text) => {
    using folder = tempFolder(text === undefined ? {} : { 'x.db': text });
    expect(await readDatabase(join(folder.path, 'x.db'), readNotes)).toEqual({
      value: undefined,
      trouble: { unreadable: 1 },
    });
  });

  it('one that is torn is unreadable', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'torn.db');
    buildDatabase(path, tables);
    writeFileSync(path, readFileSync(path).subarray(0, 4096));
    expect(await readDatabase(path, readNotes)).toEqual({ value: undefined, trouble: { unreadable: 1 } });
  });

  it('one with other tables, or a view of that name, is of an unknown version', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'other.db');
    buildDatabase(path, { letter: [{ id: 1, text: 'x' }] });
    const unknown = { value: undefined, trouble: { 'unknown-version': 1 } };
    expect(await readDatabase(path, readNotes)).toEqual(unknown);
    const owner = new Database(path);
    owner.exec(
      'CREATE VIEW note AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS text FROM n',
    );
    owner.close();
    expect(await readDatabase(path, readNotes)).toEqual(unknown);
  });

  it('is read where nothing may be written', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'd', 'x.db');
    buildDatabase(path, tables, 'log');
    chmodSync(join(folder.path, 'd'), 0o555);
    expect((await readDatabase(path, readNotes)).value).toEqual(notes);
    chmodSync(join(folder.path, 'd'), 0o755);
  });

  it('throws only the abort', async () => {
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(readDatabase('/nowhere', readNotes, { signal: aborted })).rejects.toThrow('enough');
  });

  it('is listed with the size and the time of its log', async () => {
    using folder = tempFolder();
    const path = join(folder.path, 'x.db');
    buildDatabase(path, tables, 'log');
    const sizes = [path, `${path}-wal`].map((part) => statSync(part));
    const listed = await statDatabase(path);
    expect(listed).toMatchObject({ path, size: sizes[0]!.size + sizes[1]!.size, mtimeMs: sizes[1]!.mtimeMs });
    renameSync(`${path}-wal`, `${path}-gone`);
    expect((await statDatabase(path))?.size).toBe(sizes[0]!.size);
  });
});
