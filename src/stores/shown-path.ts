import { isAbsolute, relative } from 'node:path';

/** A path as a person would type it: from where they are when it lies below, else in full. */
export function shownPath(path: string): string {
  const fromHere = relative('', path);
  return fromHere === '' || fromHere.startsWith('..') || isAbsolute(fromHere) ? path : fromHere;
}
