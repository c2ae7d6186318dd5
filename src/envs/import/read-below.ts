import { readFile, realpath, stat } from 'node:fs/promises';
import { relative, resolve, sep } from 'node:path';
import { NotCarried } from './left-out.ts';

/** Larger ones are not written by hand, and a task is a text for a model. */
const MAX_BYTES = 10_000_000;

/** The text of a file below a folder. Throws `NotCarried` for any other and for what is no text. */
export async function readBelow(folder: string, path: string, maxBytes = MAX_BYTES): Promise<string> {
  const text = textIn(await bytesBelow(folder, path, maxBytes));
  if (text === undefined) throw new NotCarried(`${path} is no text`);
  return text.replace(/^\uFEFF/, '');
}

/** What is in a file below a folder, symbolic links followed. Throws `NotCarried` for any other. */
export async function bytesBelow(folder: string, path: string, maxBytes = MAX_BYTES): Promise<Buffer> {
  const root = await realpath(folder);
  const file = await realpath(resolve(root, path)).catch(() => {
    throw new NotCarried(`${path} does not exist`);
  });
  const inner = relative(root, file);
  if (inner === '' || inner === '..' || inner.startsWith(`..${sep}`) || resolve(inner) === inner) {
    throw new NotCarried(`${path} lies outside the folder`);
  }
  const { size, isFile } = await stat(file).then((found) => ({ size: found.size, isFile: found.isFile() }));
  if (!isFile) throw new NotCarried(`${path} is no file`);
  if (size > maxBytes) throw new NotCarried(`${path} has ${size} bytes, and at most ${maxBytes} are read`);
  return readFile(file);
}

/** Bytes as text, all of them, if they are one. */
export function textIn(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
