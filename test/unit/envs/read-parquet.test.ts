import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type ColumnSource, type ParquetWriteOptions, parquetWriteBuffer } from 'hyparquet-writer';
import { loadItems, loadTasks } from 'skillopt/envs';
import { expect, test } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';

const columnData: ColumnSource[] = [
  { name: 'question', data: ['Capital of France?', 'How many?', 'Capital of France?'], type: 'STRING' },
  { name: 'answers', data: [['Paris'], ['7', 'seven'], ['Paris']], type: 'JSON' },
  { name: 'year', data: [1n, 2n, 2n ** 60n], type: 'INT64' },
];

function withFile<Answer>(bytes: Uint8Array, use: (path: string) => Promise<Answer>): Promise<Answer> {
  const folder = tempFolder();
  const path = join(folder.path, 'tasks.parquet');
  writeFileSync(path, bytes);
  return use(path).finally(() => folder[Symbol.dispose]());
}

/** A frame that holds its bytes as they are: Node 20 packs nothing in this format. */
function zstdFrame(bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0xa0, 4);
  head.writeUInt32LE(bytes.length, 5);
  head.writeUIntLE(1 + (bytes.length << 3), 9, 3);
  return Buffer.concat([head, bytes]);
}

type Packing = Pick<ParquetWriteOptions, 'codec' | 'compressors'>;
const PACKINGS: Readonly<Record<string, Packing>> = {
  nothing: { codec: 'UNCOMPRESSED' },
  snappy: { codec: 'SNAPPY' },
  gzip: { codec: 'GZIP', compressors: { GZIP: (bytes) => gzipSync(bytes) } },
  brotli: { codec: 'BROTLI', compressors: { BROTLI: (bytes) => brotliCompressSync(bytes) } },
  zstd: { codec: 'ZSTD', compressors: { ZSTD: zstdFrame } },
};

test.each(Object.keys(PACKINGS))('a Parquet file packed with %s gives its rows', async (name) => {
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData, ...PACKINGS[name] }));
  const rows = await withFile(bytes, loadItems);
  expect(rows.map(({ value }) => value)).toEqual([
    { question: 'Capital of France?', answers: ['Paris'], year: 1 },
    { question: 'How many?', answers: ['7', 'seven'], year: 2 },
    { question: 'Capital of France?', answers: ['Paris'], year: '1152921504606846976' },
  ]);
  expect(rows[1]!.where).toMatch(/tasks\.parquet: row 2$/);
});

test('rows of a Parquet file are named by their number', async () => {
  const { rows, leftOut } = await withFile(new Uint8Array(parquetWriteBuffer({ columnData })), (path) =>
    loadTasks(path),
  );
  expect(rows).toHaveLength(2);
  expect(leftOut).toEqual([
    { where: expect.stringMatching(/: row 3$/), what: 'a task', why: expect.stringMatching(/^the same as .*: row 1$/) },
  ]);
  const bad = parquetWriteBuffer({ columnData: [{ name: 'question', data: ['q', 'r'], type: 'STRING' }] });
  await expect(withFile(new Uint8Array(bad), (path) => loadTasks(path))).rejects.toThrow(
    /tasks\.parquet: row 1: "answers" must be a non-empty list, got nothing/,
  );
});

test('what is no Parquet file says so', async () => {
  await expect(withFile(Buffer.from('question,answer\n'), loadItems)).rejects.toMatchObject({
    code: 'TASKS_INVALID',
    message: expect.stringMatching(/tasks\.parquet: expected Parquet: ./),
  });
  await expect(loadItems('no-such.parquet')).rejects.toThrow('no-such.parquet does not exist');
});
