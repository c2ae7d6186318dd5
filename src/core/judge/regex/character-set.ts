import { memoize, WHITESPACE } from '../../text/index.ts';

/** Whether a code point belongs. */
export type CharacterSet = (codePoint: number) => boolean;

/** A piece of a class: one character or a range, which are compared without case if asked, or a category, which never is. */
export type ClassPart = { readonly first: number; readonly last: number } | { readonly category: CharacterSet };

const ofPattern = (pattern: RegExp): CharacterSet =>
  memoize((codePoint) => pattern.test(String.fromCodePoint(codePoint)), { maxEntries: 100_000 });

/** Python's `str.isalnum()` and the underscore. Marks are no letters there. */
const isWord = ofPattern(/^[\p{L}\p{N}_]$/u);
const isAsciiWord = ofPattern(/^\w$/);

const CATEGORIES: Readonly<Record<string, readonly [unicode: CharacterSet, ascii: CharacterSet]>> = {
  d: [ofPattern(/^\p{Nd}$/u), ofPattern(/^[0-9]$/)],
  s: [ofPattern(new RegExp(`^[${WHITESPACE}]$`)), ofPattern(/^[\t-\r ]$/)],
  w: [isWord, isAsciiWord],
};

export const wordsOf = (isAscii: boolean): CharacterSet => (isAscii ? isAsciiWord : isWord);

/** `\d`, `\s`, `\w` and their opposites in capitals; `undefined` for any other letter. */
export function categoryOf(letter: string, isAscii: boolean): CharacterSet | undefined {
  const set = CATEGORIES[letter.toLowerCase()]?.[isAscii ? 1 : 0];
  if (set === undefined || letter === letter.toLowerCase()) return set;
  return (codePoint) => !set(codePoint);
}

export type SetOptions = { readonly isNegated?: boolean; readonly ignoresCase: boolean; readonly isAscii: boolean };

/** The characters of a class, or of one literal. */
export function toSet(
  parts: readonly ClassPart[],
  { isNegated = false, ignoresCase, isAscii }: SetOptions,
): CharacterSet {
  const [only] = parts;
  if (parts.length === 1 && !isNegated && 'first' in only! && only.first === only.last) {
    return LITERALS[ignoresCase ? (isAscii ? 'ascii' : 'unicode') : 'exact'](only.first);
  }
  const holds = (codePoint: number) => parts.some((part) => isIn(codePoint, part));
  const isMember = ignoresCase ? (codePoint: number) => variantsOf(codePoint, isAscii).some(holds) : holds;
  return memoize((codePoint) => isMember(codePoint) !== isNegated, { maxEntries: 100_000 });
}

/** A letter that stands in a pattern again and again is one set, which a search asks once for each character. */
const literals = (variants: (codePoint: number) => readonly number[]) =>
  memoize(
    (letter: number): CharacterSet => {
      const same = variants(letter);
      return (codePoint) => same.includes(codePoint);
    },
    { maxEntries: 1_000 },
  );
const LITERALS = {
  exact: literals((letter) => [letter]),
  ascii: literals((letter) => variantsOf(letter, true)),
  unicode: literals((letter) => variantsOf(letter, false)),
};

const isIn = (codePoint: number, part: ClassPart) =>
  'category' in part ? part.category(codePoint) : codePoint >= part.first && codePoint <= part.last;

/** All that Python takes for the same letter: what has the same capital form after it was made small. */
function variantsOf(codePoint: number, isAscii: boolean): readonly number[] {
  if (isAscii) return asciiVariants(codePoint);
  return sameLetters().get(caseKey(codePoint)) ?? [codePoint];
}

function asciiVariants(codePoint: number): readonly number[] {
  const letter = String.fromCodePoint(codePoint);
  return /^[A-Za-z]$/.test(letter) ? [codePoint, codePoint ^ 0x20] : [codePoint];
}

/** Equal for characters that are one letter but for case, as `re.IGNORECASE` compares them. */
function caseKey(codePoint: number): string {
  const small = Array.from(String.fromCodePoint(codePoint).toLowerCase())[0]!;
  return small.toUpperCase();
}

/** No letters with case lie above it. */
const LAST_CASED = 0x1ffff;

let table: ReadonlyMap<string, readonly number[]> | undefined;

/** Made when the first pattern needs it: tens of thousands of characters are looked at. */
function sameLetters(): ReadonlyMap<string, readonly number[]> {
  if (table) return table;
  const groups = new Map<string, number[]>();
  for (let codePoint = 0; codePoint <= LAST_CASED; codePoint++) {
    if (!IS_CASED.test(String.fromCodePoint(codePoint))) continue;
    const key = caseKey(codePoint);
    groups.set(key, [...(groups.get(key) ?? []), codePoint]);
  }
  table = groups;
  return groups;
}

const IS_CASED = /^(?:\p{Cased}|\u0345)$/u;
