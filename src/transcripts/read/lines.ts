import { isUtf8 } from 'node:buffer';
import { stat } from 'node:fs/promises';
import type { Trouble, TroubleKind } from '../transcript-source.ts';
import { isCompressed, readChunks, TooLargeError } from './chunks.ts';
import type { JsonObject } from './json.ts';
import { splitLines } from './split-lines.ts';

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

export type LinesRead = {
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
