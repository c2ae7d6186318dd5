import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** More than any text that a person writes for a project. */
const MOST_SMALL_BYTES = 4_000_000;

/**
 * The bytes of a file that somebody else wrote, such as a project file, `.env` or SKILL.md. A pipe would block a thread for good, a
 * device never ends, and a huge file fills the memory: all of these are errors here. Links are followed.
 */
export async function readSmallFile(path: string, mostBytes = MOST_SMALL_BYTES): Promise<Buffer> {
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)); // a pipe opens at once
  const found = await file.stat();
  if (!found.isFile()) throw new NoSmallFile(found.isDirectory() ? 'EISDIR' : 'ENOTFILE', `got ${kindOf(found)}`);
  if (found.size > mostBytes) throw tooLarge(found.size, mostBytes);
  const bytes = await readUpTo(file, mostBytes + 1);
  if (bytes.length > mostBytes) throw tooLarge(bytes.length, mostBytes); // it grew, or does not say its size, as in /proc
  return bytes;
}

export const readSmallText = async (path: string, mostBytes?: number): Promise<string> =>
  (await readSmallFile(path, mostBytes)).toString('utf8');

/** Has the shape of an error of the system, so that callers treat it like a file that cannot be read. */
class NoSmallFile extends Error {
  readonly syscall = 'read';
  readonly code: string;

  constructor(code: string, got: string, expected = 'a file') {
    super(`expected ${expected}, ${got}`);
    this.code = code;
  }
}

const tooLarge = (size: number, mostBytes: number) =>
  new NoSmallFile('ETOOLARGE', `got ${sizeOf(size)}`, `at most ${sizeOf(mostBytes)}`);

const sizeOf = (bytes: number) => (bytes < 1e6 ? `${bytes} bytes` : `${Number((bytes / 1e6).toFixed(2))} MB`);

type Kind = Awaited<ReturnType<FileHandle['stat']>>;

function kindOf(found: Kind): string {
  if (found.isDirectory()) return 'a folder';
  if (found.isFIFO()) return 'a pipe';
  return found.isSocket() ? 'a socket' : 'a device';
}

async function readUpTo(file: FileHandle, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.createReadStream({ start: 0, end: most - 1, autoClose: false })) chunks.push(chunk);
  return Buffer.concat(chunks);
}
