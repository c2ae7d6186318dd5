import { readFile } from 'node:fs/promises';
import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import type { Row } from './row.ts';
import { tasksInvalid, unreadable } from './tasks-invalid.ts';

/** Unpacked, a file may be a thousand times as large as on disk. */
const MAX_BYTES = 1_000_000_000;
const HINT = 'Write it again with any Parquet library, or as .jsonl.';

/** The rows of a Parquet file, packed in any usual way. They have no lines: a row is named by its number, from 1. */
export async function readParquet(path: string): Promise<Row[]> {
  const bytes = await readFile(path).catch((error) => Promise.reject(unreadable(path, error)));
  return (await readFrom(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), path)).rows;
}

/** The first rows of a Parquet file, and how many it has. Little else of it is read. */
export async function readParquetHead(path: string, rowEnd: number): Promise<{ rows: Row[]; total: number }> {
  const { asyncBufferFromFile } = await import('hyparquet');
  return readFrom(await asyncBufferFromFile(path), path, rowEnd);
}

async function readFrom(file: ArrayBuffer | AsyncBuffer, path: string, rowEnd?: number) {
  // Loaded here, since most task files are texts.
  const [{ parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  try {
    const metadata = await parquetMetadataAsync(file as AsyncBuffer);
    if (rowEnd === undefined) requireSize(metadata);
    const values = await parquetReadObjects({
      file,
      metadata,
      compressors,
      ...(rowEnd === undefined ? {} : { rowEnd }),
    });
    const rows = values.map((value, index): Row => ({ value: plain(value), where: `${path}: row ${index + 1}` }));
    return { rows, total: Number(metadata.num_rows) };
  } catch (error) {
    throw tasksInvalid([`${path}: expected Parquet: ${(error as Error).message}`], HINT, error);
  }
}

function requireSize({ row_groups: groups }: FileMetaData): void {
  const size = groups.reduce((sum, group) => sum + Number(group.total_byte_size), 0);
  if (size > MAX_BYTES) throw new Error(`it holds ${size} bytes, and at most ${MAX_BYTES} are read`);
}

/** As JSON would have it: whole numbers of 64 bits become numbers where they fit and text where not, dates become text. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as ArrayLike<unknown>, plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}
