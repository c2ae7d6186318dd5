import { open, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { rowsOf } from './load-items.ts';
import { readParquetHead } from './read-parquet.ts';
import type { Row } from './row.ts';
import { tasksInvalid } from './tasks-invalid.ts';

/** What is seen of a file: enough to tell what it is. */
export type Peeked = {
  readonly rows: readonly Row[];
  /** How many the file has, where that is known, and how many it has at least. */
  readonly total?: number;
  readonly atLeast: number;
};

const HEAD_BYTES = 256_000;
/** A list in JSON or YAML has no end before its end: it is read whole, or not at all. */
const MAX_TREE_BYTES = 4_000_000;
const MAX_ROWS = 200;
/** A quote may hold line breaks: where a head is cut inside one, the cut moves up. */
const MOST_CUTS = 20;

/** The first rows of a task file. Throws `TASKS_INVALID` for what is none, or is too large to tell. */
export async function peekRows(path: string): Promise<Peeked> {
  const ending = extname(path).toLowerCase();
  if (ending === '.parquet') {
    const { rows, total } = await readParquetHead(path, MAX_ROWS);
    return { rows, total, atLeast: total };
  }
  await requireSmallTree(path);
  const { size } = await stat(path);
  const bytes = await readHead(path, isTree(path) ? MAX_TREE_BYTES : HEAD_BYTES);
  const isWhole = bytes.length >= size;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const rows = isWhole ? rowsOf(text, path) : rowsOfHead(text, path);
  return { rows: rows.slice(0, MAX_ROWS), atLeast: rows.length, ...(isWhole ? { total: rows.length } : {}) };
}

export const isTree = (path: string) => ['.json', '.yaml', '.yml'].includes(extname(path).toLowerCase());

/** Throws for a list in JSON or YAML that is too large to look at. */
export async function requireSmallTree(path: string): Promise<void> {
  const { size } = await stat(path);
  if (!isTree(path) || size <= MAX_TREE_BYTES) return;
  const problem = `${path}: ${megabytes(size)} of ${extname(path)} are not looked at, ${megabytes(MAX_TREE_BYTES)} at most`;
  throw tasksInvalid([problem], 'Write it as .jsonl, with a task on each line.');
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;

/** At most so many bytes from the beginning of a file. */
export async function readHead(path: string, maxBytes: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Whole lines; fewer of them until they can be read. */
function rowsOfHead(text: string, path: string, cuts = MOST_CUTS): Row[] {
  const head = text.slice(0, Math.max(0, text.lastIndexOf('\n')));
  try {
    return rowsOf(head, path);
  } catch (error) {
    if (cuts === 0 || head === '') throw error;
    return rowsOfHead(head, path, cuts - 1);
  }
}
