import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';
import type { Trouble, TroubleKind } from '../transcript-source.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_SMALL_BYTES = 16 * 1024;

type JsonFile = { readonly value: unknown; readonly trouble: Trouble };

/** A file that is one JSON value. What cannot be read has the value `undefined`; nothing is thrown but the abort. */
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

/** A file of a few words; empty if it is not there or longer. */
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
