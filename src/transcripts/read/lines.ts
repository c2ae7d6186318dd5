import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Decompress } from 'fzstd';
import type { Trouble, TroubleKind } from '../transcript-source.ts';
import type { JsonObject } from './json.ts';

export type LineFile = {
  readonly path: string;
  /** Bytes that were read before. A compressed file is always read whole. */
  readonly from?: number | undefined;
  /**
   * Looks at a line's bytes and says whether it is worth decoding and parsing; most lines are not. In JSON, the bytes
   * `"word"` stand only where that string does: a quote inside a text is written `\"`. See `hasString`.
   */
  readonly wanted?: ((line: Buffer) => boolean) | undefined;
  readonly maxLineBytes?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

type LinesRead = {
  /** Bytes up to the end of the last whole line; of a compressed file, its size. */
  readonly position: number;
  readonly trouble: Trouble;
};

const MAX_LINE_BYTES = 8 * 1024 * 1024;
const MAX_GROWN_BYTES = 512 * 1024 * 1024;

/**
 * Every record of a file with a JSON object per line, in order. What is wrong is counted: nothing is thrown but the abort.
 *
 * A last line without an end is taken when it is a whole object, for no beginning of an object is an object itself;
 * otherwise the position stays before it. A record that `take` cannot bear counts as malformed.
 */
export async function readRecords(file: LineFile, take: (record: JsonObject) => void): Promise<LinesRead> {
  const { path, wanted, maxLineBytes = MAX_LINE_BYTES, maxBytes = MAX_GROWN_BYTES, signal } = file;
  const from = isCompressed(path) ? 0 : (file.from ?? 0);
  const count = troubleCounter();
  const reader = recordReader({ wanted, count, take, from });
  const lines = splitLines({ maxLineBytes, onLine: reader.line, onTooLong: () => count.add('too-long') });
  try {
    await readChunks({ path, from, maxBytes, signal }, lines.push);
  } catch (error) {
    signal?.throwIfAborted();
    count.add(error instanceof TooLargeError ? 'too-large' : 'unreadable');
  }
  const rest = lines.rest();
  const { ended, seen } = lines.bytes();
  if (rest === 'too-long') count.add('too-long');
  const isWhole = rest !== 'too-long' && (rest.length === 0 || reader.last(rest));
  const position = isCompressed(path) ? await sizeOf(path) : from + (isWhole ? seen : ended);
  return { position, trouble: count.trouble };
}

/** What a reader counts. */
export function troubleCounter() {
  const trouble: Partial<Record<TroubleKind, number>> = {};
  const add = (kind: TroubleKind) => {
    trouble[kind] = (trouble[kind] ?? 0) + 1;
  };
  return { trouble: trouble as Trouble, add };
}

type Reading = Pick<LineFile, 'wanted'> & {
  readonly count: ReturnType<typeof troubleCounter>;
  readonly take: (record: JsonObject) => void;
  readonly from: number;
};

function recordReader({ wanted = () => true, count, take, from }: Reading) {
  let isFirst = from === 0;
  const withoutMark = (line: Buffer) => {
    const hasMark = isFirst && line.subarray(0, BOM.length).equals(BOM);
    isFirst = false;
    return hasMark ? line.subarray(BOM.length) : line;
  };
  const hand = (record: JsonObject) => {
    try {
      take(record);
    } catch {
      count.add('malformed');
    }
  };
  return {
    line(raw: Buffer): void {
      const line = withoutMark(raw);
      if (line[0] === OPENING ? !wanted(line) : isBlank(line)) return;
      if (!isUtf8(line)) count.add('invalid-utf8');
      const record = parseObject(line);
      if (record === undefined) count.add('malformed');
      const usable = record ?? afterZeros(line);
      if (usable !== undefined) hand(usable);
    },
    /** Whether it was a whole record, or nothing. */
    last(raw: Buffer): boolean {
      const line = withoutMark(raw);
      if (isBlank(line)) return true;
      const record = parseObject(line);
      if (record === undefined) count.add('torn');
      else if (wanted(line)) hand(record);
      return record !== undefined;
    },
  };
}

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
const OPENING = '{'.charCodeAt(0);

const isBlank = (line: Buffer) => line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);

/** Invalid bytes become U+FFFD. */
function parseObject(line: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** A system that went down can leave zeros where a line was, and the next record behind them. */
function afterZeros(line: Buffer): JsonObject | undefined {
  const zero = line.lastIndexOf(0);
  return zero === -1 ? undefined : parseObject(line.subarray(zero + 1));
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

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
class TooLargeError extends Error {}

const isCompressed = (path: string) => path.endsWith('.zst');

/** Every chunk of a file, in order. A chunk's bytes hold only until `take` returns. */
async function readChunks(chunks: Chunks, take: (chunk: Buffer) => void): Promise<void> {
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

const NEWLINE = 10;

type LineHandler = {
  readonly maxLineBytes: number;
  /** Without its end. The bytes are those of a chunk, so they hold only until this returns. */
  onLine(line: Buffer): void;
  onTooLong(): void;
};

/** Cuts chunks into lines. A line over the limit is dropped as it comes, so that it never lies in memory. */
function splitLines({ maxLineBytes, onLine, onTooLong }: LineHandler) {
  let pieces: Buffer[] = [];
  let heldBytes = 0;
  let seenBytes = 0;
  let endedBytes = 0;

  /** A chunk's buffer is used again for the next one, hence the copy. */
  const hold = (piece: Buffer) => {
    heldBytes += piece.length;
    if (heldBytes > maxLineBytes) pieces = [];
    else if (piece.length > 0) pieces.push(Buffer.from(piece));
  };
  const end = (piece: Buffer) => {
    if (heldBytes + piece.length > maxLineBytes) onTooLong();
    else onLine(pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]));
    pieces = [];
    heldBytes = 0;
  };

  return {
    push(chunk: Buffer): void {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        end(chunk.subarray(start, at));
        start = at + 1;
        endedBytes = seenBytes + start;
      }
      hold(chunk.subarray(start));
      seenBytes += chunk.length;
    },
    /** Bytes up to the end of the last whole line, and up to the end of all. */
    bytes: () => ({ ended: endedBytes, seen: seenBytes }),
    /** What came after the last whole line. */
    rest(): Buffer | 'too-long' {
      return heldBytes > maxLineBytes ? 'too-long' : Buffer.concat(pieces);
    },
  };
}
