import { isAbsolute, relative } from 'node:path';

/** A path as a person would type it: from where they are when it lies below, else in full. */
export function shownPath(path: string, cwd = process.cwd()): string {
  const fromHere = relative(cwd, path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}
