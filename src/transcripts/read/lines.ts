import { isAscii, isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Decompress } from 'fzstd';
import { isObject } from '../../core/text/index.ts';
import type { Trouble, TroubleKind } from '../transcript-source.ts';
import type { JsonObject } from './json.ts';

export type LineFile = {
  readonly path: string;
  /** Bytes that were read before. A compressed file is always read whole. */
  readonly from?: number | undefined;
  /** Decides by its bytes whether a line is decoded and parsed. Most lines need not be. See `hasString`. */
  readonly wanted?: ((line: Buffer) => boolean) | undefined;
  readonly maxLineBytes?: number | undefined;
  /** The limit of a compressed file, decompressed. */
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The position is the end of the last whole line, or the size of a compressed file. */
type LinesRead = { readonly position: number; readonly trouble: Trouble };

const MAX_LINE_BYTES = 8 * 1024 * 1024;
const MAX_GROWN_BYTES = 512 * 1024 * 1024;

/**
 * Every record of a file with a JSON object per line, in order. Problems are counted. Throws only when aborted.
 *
 * A last line without a line break is taken if it is a whole object. Otherwise the position stays before it. A record
 * counts as malformed if `take` throws.
 */
export async function readRecords(file: LineFile, take: (record: JsonObject) => void): Promise<LinesRead> {
  const { path, wanted, maxLineBytes = MAX_LINE_BYTES, maxBytes = MAX_GROWN_BYTES, signal } = file;
  const from = isCompressed(path) ? 0 : (file.from ?? 0);
  const count = troubleCounter();
  const reader = recordReader({ path, wanted, from }, count, take);
  const lines = splitLines(maxLineBytes, reader.line, () => count.add('too-long'));
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

export function troubleCounter() {
  const trouble: Partial<Record<TroubleKind, number>> = {};
  const add = (kind: TroubleKind) => {
    trouble[kind] = (trouble[kind] ?? 0) + 1;
  };
  return { trouble: trouble as Trouble, add };
}

function recordReader(
  { wanted = () => true, from }: LineFile,
  count: ReturnType<typeof troubleCounter>,
  take: (record: JsonObject) => void,
) {
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

function parseObject(line: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line.toString(isAscii(line) ? 'latin1' : 'utf8')); // equal, and a plain copy
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A system crash can leave zeros in place of a line, and the next record after them. */
function afterZeros(line: Buffer): JsonObject | undefined {
  const zero = line.lastIndexOf(0);
  return zero === -1 ? undefined : parseObject(line.subarray(zero + 1));
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );

const CHUNK_BYTES = 1024 * 1024;

const spares: Buffer[] = [];
const MAX_SPARES = 4;

type Chunks = Pick<LineFile, 'path' | 'signal'> & { readonly from: number; readonly maxBytes: number };

class TooLargeError extends Error {}

const isCompressed = (path: string) => path.endsWith('.zst');

/** Every chunk of a file, in order. The bytes of a chunk are valid only until `take` returns. */
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
      // Asynchronous reads would take a third of a harvest. Other work runs between two chunks.
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

const MAX_WINDOW_BYTES = 8 * 1024 * 1024;
/** The decoder moves its whole window for every block, even for a small one. */
const MAX_MOVED_BYTES = 32e9;

/** Stops before memory is used: a small input can ask for gigabytes of output, of window, or of moved bytes. */
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

/** A private field of the library (`s.w`). A test with a huge window fails if it moves. */
function windowOf(decoder: Decompress): number {
  const { s: frame } = decoder as unknown as { s?: { w?: Uint8Array } };
  return frame?.w?.length ?? Number.POSITIVE_INFINITY;
}

const NEWLINE = 10;

/** Cuts chunks into lines without line breaks. A line is valid only until `onLine` returns. Long ones are never held in memory. */
function splitLines(maxLineBytes: number, onLine: (line: Buffer) => void, onTooLong: () => void) {
  let pieces: Buffer[] = [];
  let heldBytes = 0;
  let seenBytes = 0;
  let endedBytes = 0;
  /** Copies, since the next chunk uses the same buffer. */
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
    /** Bytes up to the end of the last whole line, and of the file. */
    bytes: () => ({ ended: endedBytes, seen: seenBytes }),
    rest: (): Buffer | 'too-long' => (heldBytes > maxLineBytes ? 'too-long' : Buffer.concat(pieces)),
  };
}
