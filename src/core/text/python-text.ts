import { memoize } from './collections.ts';

// The reference is Python, and some results depend on how Python treats text. These few functions do the same.

/** Python's whitespace, to be put into a class of a pattern. */
export const WHITESPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const LEADING = new RegExp(`^[${WHITESPACE}]+`);
const IS_SPACE = new RegExp(`[${WHITESPACE}]`);

export function rstrip(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text, end - 1)) end--;
  return text.slice(0, end);
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code <= 32 || code >= 127) && IS_SPACE.test(text[at]!);
}

export const strip = (text: string): string => rstrip(isSpace(text, 0) ? text.replace(LEADING, '') : text);

/** Python's `text[:length]`, which counts code points and never splits one. */
export function head(text: string, length: number): string {
  if (text.length <= length) return text;
  return Array.from(text.slice(0, length * 2))
    .slice(0, length)
    .join('');
}

/** Python's `round()`: halves go to the even neighbour. */
export function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Python's `str.casefold()`: for comparing without case, «STRASSE» with «Straße». */
export const casefold = (text: string): string =>
  text.replace(/[A-Z]+|[^\0-\x7f]/gu, (piece) => (piece < '\x80' ? piece.toLowerCase() : foldCharacter(piece)));

/** Character by character: JavaScript writes a sigma at the end of a word in another way. */
const foldCharacter = memoize(
  (character: string) =>
    character === 'ı'
      ? character
      : Array.from(character.toLowerCase().toUpperCase(), (one) => one.toLowerCase()).join(''),
  { maxEntries: 10_000 },
);

/** `text.includes(wanted)` in one pass: the built-in one takes a square of time on long texts that nearly repeat each other. */
export function includesText(text: string, wanted: string): boolean {
  if (wanted.length <= 100) return text.includes(wanted); // fast whatever the texts are
  const fallback = fallbacksOf(wanted);
  let matched = 0;
  for (let at = 0; at < text.length; at++) {
    while (matched > 0 && wanted.charCodeAt(matched) !== text.charCodeAt(at)) matched = fallback[matched - 1]!;
    if (wanted.charCodeAt(matched) === text.charCodeAt(at)) matched++;
    if (matched === wanted.length) return true;
  }
  return false;
}

/** For every beginning of a text, the longest shorter beginning that it ends with (Knuth, Morris and Pratt). */
function fallbacksOf(wanted: string): Int32Array {
  const fallback = new Int32Array(wanted.length);
  for (let at = 1, matched = 0; at < wanted.length; at++) {
    while (matched > 0 && wanted.charCodeAt(matched) !== wanted.charCodeAt(at)) matched = fallback[matched - 1]!;
    if (wanted.charCodeAt(matched) === wanted.charCodeAt(at)) matched++;
    fallback[at] = matched;
  }
  return fallback;
}
