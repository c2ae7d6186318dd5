import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

/** The print of every SQLite file: what is in one changes anywhere, and its reader knows what is new. */
export const DATABASE = 'database';

const EDGE_BYTES = 1_024;
const SQLITE_MAGIC = 'SQLite format 3\0';

/**
 * Tells whether the first `size` bytes of a file are still those of before, by their beginning and their end. Agents append;
 * one that writes its file again in place would otherwise be read from the middle of another text. Empty: cannot be read.
 */
export async function printOf(path: string, size: number): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const head = await bytesOf(file, 0, Math.min(size, EDGE_BYTES));
    if (head.subarray(0, SQLITE_MAGIC.length).toString('latin1') === SQLITE_MAGIC) return DATABASE;
    const tail = await bytesOf(file, Math.max(head.length, size - EDGE_BYTES), size);
    return createHash('sha256').update(head).update(tail).digest('hex').slice(0, 16);
  } catch {
    return '';
  } finally {
    await file?.close();
  }
}

async function bytesOf(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(Math.max(0, end - start));
  const { bytesRead } = await file.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}
