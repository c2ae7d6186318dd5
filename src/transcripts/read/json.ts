import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import { isObject } from '../../core/text/index.ts';
import type { Trouble, TroubleKind } from '../transcript-source.ts';

/** A record of another program: nothing about it is certain. */
export type JsonObject = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A text, or the texts of `{ type, text }` blocks of these types. */
export function blockTexts(content: unknown, types: readonly string[] = ['text']): string {
  if (typeof content === 'string') return content;
  const blocks = listOf(content).map(objectOf);
  const texts = blocks.filter(({ type }) => types.includes(textOf(type))).map(({ text }) => textOf(text));
  return texts.filter((text) => text !== '').join('\n');
}

const BACKSLASH = '\\'.charCodeAt(0);

/** Finds a string that is exactly this word in a line of JSON, without parsing. An escaped quote before it does not count. */
export function hasString(word: string): (line: Buffer) => boolean {
  const needle = Buffer.from(`"${word}"`);
  return (line) => {
    let at = line.indexOf(needle);
    while (at > 0 && line[at - 1] === BACKSLASH) at = line.indexOf(needle, at + 1);
    return at !== -1;
  };
}

const [QUOTE, COLON] = ['"'.charCodeAt(0), ':'.charCodeAt(0)];
const [BRACE, BRACKET] = ['{'.charCodeAt(0), '['.charCodeAt(0)];

const HEAD_BYTES = 2_000;

/** The text of a top-level field, found without parsing; `undefined` if it is not near the beginning of the line. */
export function fieldText(line: Buffer, field: string): string | undefined {
  const end = Math.min(line.length, HEAD_BYTES);
  let depth = 0;
  let isNamed = false;
  for (let at = 0; at < end; at++) {
    const byte = line[at]!;
    if (byte === QUOTE) {
      const close = closingQuote(line, at + 1, end);
      if (close === -1) return undefined;
      if (isNamed) return line.toString('utf8', at + 1, close);
      const isLikeIt = depth === 1 && close - at - 1 === field.length && isKey(line, close);
      isNamed = isLikeIt && line.toString('latin1', at + 1, close) === field;
      at = close;
    } else if (byte === BRACE || byte === BRACKET) depth++;
    else if (byte === BRACE + 2 || byte === BRACKET + 2) depth--; // both close with the byte two above that of their opening
  }
  return undefined;
}

function closingQuote(line: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (line[at] === BACKSLASH) at++;
    else if (line[at] === QUOTE) return at;
  }
  return -1;
}

const isKey = (line: Buffer, close: number) => line[close + 1] === COLON || line[close + 2] === COLON;

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_SMALL_BYTES = 16 * 1024;

type JsonFile = { readonly value: unknown; readonly trouble: Trouble };

/** Reads a file that is one JSON value. The value is `undefined` if that fails. Throws only when aborted. */
export async function readJsonFile(path: string, signal?: AbortSignal, maxBytes = MAX_FILE_BYTES): Promise<JsonFile> {
  const bytes = await readBytes(path, maxBytes, signal);
  if (typeof bytes === 'string') return { value: undefined, trouble: { [bytes]: 1 } };
  const trouble: Trouble = isUtf8(bytes) ? {} : { 'invalid-utf8': 1 };
  try {
    return { value: JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')), trouble };
  } catch {
    return { value: undefined, trouble: { ...trouble, malformed: 1 } };
  }
}

export async function readSmallText(path: string): Promise<string> {
  const bytes = await readBytes(path, MAX_SMALL_BYTES);
  return typeof bytes === 'string' ? '' : bytes.toString('utf8');
}

async function readBytes(path: string, maxBytes: number, signal?: AbortSignal): Promise<Buffer | TroubleKind> {
  signal?.throwIfAborted();
  try {
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    return size > maxBytes ? 'too-large' : await file.readFile({ signal });
  } catch {
    signal?.throwIfAborted();
    return 'unreadable';
  }
}
