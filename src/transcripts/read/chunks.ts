import { closeSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { Decompress } from 'fzstd';

/** Most sessions fit into one. */
const CHUNK_BYTES = 1024 * 1024;

/** Memory that is not in use, for the next file. */
const spares: Buffer[] = [];
const MAX_SPARES = 4;

type Chunks = {
  readonly path: string;
  /** Where to begin, in bytes. A compressed file is always read from its beginning. */
  readonly from: number;
  /** Of what a compressed file grows to. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
};

/** A compressed file that asks for more than we give it. */
export class TooLargeError extends Error {}

export const isCompressed = (path: string) => path.endsWith('.zst');

/** Every chunk of a file, in order. A chunk's bytes hold only until `take` returns. */
export async function readChunks(chunks: Chunks, take: (chunk: Buffer) => void): Promise<void> {
  if (!isCompressed(chunks.path)) return await readPlain(chunks, take);
  const decoder = decompressor(chunks.maxBytes, take);
  await readPlain({ ...chunks, from: 0 }, (chunk) => decoder.push(new Uint8Array(chunk)));
  decoder.push(new Uint8Array(0), true);
}

async function readPlain({ path, from, signal }: Chunks, take: (chunk: Buffer) => void): Promise<void> {
  const buffer = spares.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const file = openSync(path, 'r');
  try {
    for (let position = from; ; ) {
      await setImmediate();
      signal?.throwIfAborted();
      // Waiting for another thread costs more than reading: a third of a harvest. Between two chunks others have their turn.
      const bytes = readSync(file, buffer, 0, buffer.length, position);
      position += bytes;
      take(buffer.subarray(0, bytes));
      if (bytes < buffer.length) return; // a file gives all it has
    }
  } finally {
    closeSync(file);
    if (spares.length < MAX_SPARES) spares.push(buffer);
  }
}

/** What a writer may ask a reader to look back at. More than this is a trap or another kind of file. */
const MAX_WINDOW_BYTES = 8 * 1024 * 1024;

/** The decoder moves its whole window for every block, however small the block is. */
const MAX_MOVED_BYTES = 32e9;

/** Stops before memory is touched: small input can ask for gigabytes, in size, in window, or in time. */
function decompressor(maxBytes: number, take: (chunk: Buffer) => void): Decompress {
  let grownBytes = 0;
  let movedBytes = 0;
  const decoder = new Decompress((block, isEnd) => {
    if (isEnd) return; // empty
    const windowBytes = windowOf(decoder);
    grownBytes += block.length;
    movedBytes += windowBytes;
    if (windowBytes > MAX_WINDOW_BYTES || grownBytes > maxBytes || movedBytes > MAX_MOVED_BYTES) {
      throw new TooLargeError();
    }
    take(Buffer.from(block.buffer, block.byteOffset, block.byteLength));
  });
  return decoder;
}

/** The library keeps it to itself (`s.w`); a test with an enormous window holds this to be true. */
function windowOf(decoder: Decompress): number {
  const { s: frame } = decoder as unknown as { s?: { w?: Uint8Array } };
  return frame?.w?.length ?? Number.POSITIVE_INFINITY;
}
