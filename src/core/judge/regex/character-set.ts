import { memoize, WHITESPACE } from '../../text/index.ts';

export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** Python accepts it. We do not: it could take endless time, or is rare. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused = false } = {}) {
    super(message);
    this.isRefused = isRefused;
  }
}

export const broken = (message: string) => new PatternError(message);
export const refused = (part: string, what: string) =>
  new PatternError(`${JSON.stringify(part)} is ${what}, which is not supported here`, { isRefused: true });

export type CharacterSet = (codePoint: number) => boolean;

export type Flags = string;

/** A range, or a category as JavaScript writes it inside a class. */
type Member = { readonly first: number; readonly last: number } | { readonly category: string };

/** `\d`, `\s` and `\w` in Python, without its flag `a` and with it. */
const CATEGORIES: Readonly<Record<string, readonly [unicode: string, ascii: string]>> = {
  d: ['\\p{Nd}', '0-9'],
  s: [WHITESPACE, '\\t-\\r\\x20'],
  w: ['\\p{L}\\p{N}_', '0-9A-Za-z_'],
};

const CODE = 'x[\\da-fA-F]{2}|u[\\da-fA-F]{4}|U[\\da-fA-F]{8}';
export const ESCAPE = `\\\\(?:${CODE}|0[0-7]{0,2}|[0-7]{3}|\\d+|[^])`;
/** Inside a class, one or two octal digits are a character too. */
const CHARACTER = `\\\\(?:${CODE}|[0-7]{1,3}|[^])|[^]`;
const MEMBER = new RegExp(`(${CHARACTER})(?:-(${CHARACTER}))?`, 'gu');

export function classSet(written: string, flags: Flags): CharacterSet {
  const isNegated = written.startsWith('[^');
  const members = [...written.slice(isNegated ? 2 : 1, -1).matchAll(MEMBER)].map(([whole, first, last]) => {
    const member = memberOf(first!, flags, true);
    return last === undefined ? member : rangeOf(whole, member, memberOf(last, flags, true));
  });
  return setOf(members, flags, isNegated);
}

/** Outside a class. The same text is always the same set, so that a search asks it once for each place. */
export const characterSet = (written: string, flags: Flags): CharacterSet => setsWith(flags)(written);

const setsWith = memoize(
  (flags: Flags) =>
    memoize(
      (written: string): CharacterSet => {
        const member = memberOf(written, flags, false);
        const isExact = 'first' in member && !flags.includes('i');
        return isExact ? (codePoint) => codePoint === member.first : setOf([member], flags);
      },
      { maxEntries: 1_000 },
    ),
  { maxEntries: 100 },
);

function memberOf(written: string, flags: Flags, isInClass: boolean): Member {
  const letter = written.startsWith('\\') ? written.slice(1) : undefined;
  const category = CATEGORIES[letter?.toLowerCase() ?? '']?.[flags.includes('a') ? 1 : 0];
  if (category) return { category: letter === letter!.toLowerCase() ? category : `[^${category}]` };
  const code = letter === undefined ? written.codePointAt(0)! : escapedCode(letter, isInClass);
  return { first: code, last: code };
}

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

function escapedCode(sign: string, isInClass: boolean): number {
  const code = Number.parseInt(sign.slice(1), 16);
  if (/^[xuU]./.test(sign) && code <= 0x10ffff) return code;
  if (/^(?:0|[0-7]{3})/.test(sign) || (isInClass && /^[0-7]/.test(sign))) return octalCode(sign);
  if (/^\d/.test(sign) && !isInClass) throw refused(`\\${sign}`, 'a backreference');
  if (sign === 'N') throw refused('\\N', 'a character by name');
  if (sign === 'b' && isInClass) return 8;
  const control = CONTROL[sign];
  if (control === undefined && /^[a-zA-Z\d]/.test(sign)) throw broken(`\\${sign} is no escape`);
  return control ?? sign.codePointAt(0)!;
}

function octalCode(digits: string): number {
  const code = Number.parseInt(digits, 8);
  if (code <= 0o377) return code;
  throw broken(`\\${digits} is more than an octal escape can be: \\377`);
}

function rangeOf(whole: string, from: Member, to: Member): Member {
  if ('first' in from && 'first' in to && from.first <= to.first) return { first: from.first, last: to.last };
  throw broken(`${whole} is no range of characters`);
}

/** JavaScript decides about each character. Without case, Python compares the ranges and not the categories. */
function setOf(members: readonly Member[], flags: Flags, isNegated = false): CharacterSet {
  const categories = members.flatMap((member) => ('category' in member ? member.category : []));
  const ranges = members.flatMap((member) => ('first' in member ? `${inHex(member.first)}-${inHex(member.last)}` : []));
  const [ignoresCase, isAscii] = [flags.includes('i'), flags.includes('a')];
  const isInCategory = anyOf(categories, 'v');
  const isInRange = anyOf(ranges, ignoresCase && !isAscii ? 'iv' : 'v');
  const sameLetters = ignoresCase ? (isAscii ? asciiLetters : unicodeLetters) : only;
  const isMember = (codePoint: number) => isInCategory(codePoint) || sameLetters(codePoint).some(isInRange);
  return memoize((codePoint) => isMember(codePoint) !== isNegated, { maxEntries: 10_000 });
}

const inHex = (codePoint: number) => `\\u{${codePoint.toString(16)}}`;

function anyOf(members: readonly string[], flags: string): CharacterSet {
  const pattern = new RegExp(`^[${members.join('')}]$`, flags);
  return (codePoint) => pattern.test(String.fromCodePoint(codePoint));
}

const only = (codePoint: number) => [codePoint];
const asciiLetters = (codePoint: number) =>
  /[A-Za-z]/.test(String.fromCodePoint(codePoint)) ? [codePoint, codePoint ^ 0x20] : [codePoint];

/** I, i, İ and ı are one letter in Python. */
const LETTERS_I = [0x49, 0x69, 0x130, 0x131];
const unicodeLetters = (codePoint: number) => (LETTERS_I.includes(codePoint) ? LETTERS_I : [codePoint]);
