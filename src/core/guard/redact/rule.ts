/** One kind of secret. `hide` is slow, and most texts hold none: `may` is cheap, and true for every text that `hide` changes. */
export type Rule = { may(text: string): boolean; hide(text: string): string };

/** What was asked for last is kept: one rule after the other looks at the same text. */
export function ofLast<Found>(find: (text: string) => Found): (text: string) => Found {
  let last: { readonly text: string; readonly found: Found } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, found: find(text) };
    return last.found;
  };
}

/** In small letters and of the same length. Patterns that ignore case are several times as slow. */
export const lowered = ofLast((text) => text.replaceAll('İ', 'i').toLowerCase());

/** Whether a sticky pattern matches at this place. */
export function matchesAt(sticky: RegExp, text: string, at: number): boolean {
  sticky.lastIndex = at;
  return sticky.test(text);
}

const [BITS, LETTERS] = [5, 4];
const [MASK, LETTER_BITS] = [2 ** (BITS * LETTERS) - 1, 2 ** BITS - 1];

/**
 * Finds every place where one of the words may begin, small or capital, by four letters of it: several times as fast as a pattern
 * with as many choices. Some places are wrong.
 */
export function wordFinder(words: readonly string[]): (text: string) => readonly number[] {
  const isBeginning = new Uint8Array(MASK + 1);
  const mayBegin = new Uint8Array((MASK >> BITS) + 1); // three letters: the processor keeps a small table at hand
  const mark = (hash: number, length: number): void => {
    if (length === LETTERS) isBeginning[hash] = mayBegin[hash >> BITS] = 1;
    else for (let letter = 0; letter < 2 ** BITS; letter++) mark((hash << BITS) | letter, length + 1);
  };
  const hashed = (hash: number, code: number) => ((hash << BITS) | (code & LETTER_BITS)) & MASK;
  for (const word of words) {
    const beginning = word.split(/[ -]/)[0]!.slice(0, LETTERS); // names leave out what parts the words of a word
    const hash = Array.from({ length: beginning.length }, (_, at) => beginning.charCodeAt(at)).reduce(hashed, 0);
    mark(hash, beginning.length);
  }
  return (text) => {
    const found: number[] = [];
    for (let at = 0, hash = 0; at < text.length; at++) {
      hash = ((hash << BITS) | (text.charCodeAt(at) & LETTER_BITS)) & MASK; // `hashed`, which is not inlined
      if (mayBegin[hash >> BITS] === 1 && isBeginning[hash] === 1) found.push(at + 1 - LETTERS);
    }
    return found;
  };
}

/** Signs of a key: 1. Those that words seldom have: 2. It has a place for every letter, since reading past its end is slow. */
const SIGNS = new Uint8Array(2 ** 16);
for (const sign of 'abcdefghijklmnopqrstuvwxyz./:+=~,%@') SIGNS[sign.charCodeAt(0)] = 1;
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$-') SIGNS[sign.charCodeAt(0)] = 2;

/** The shortest key of any service, and the shortest one without a sign that words seldom have. */
const [SHORTEST, SHORTEST_PLAIN] = [13, 20];

/** The words of a text that may be keys. Looks at one letter in thirteen of the others. */
export const longWords = ofLast((text: string): readonly string[] => {
  const found: string[] = [];
  for (let at = SHORTEST - 1; at < text.length; at += SHORTEST) {
    if (SIGNS[text.charCodeAt(at)] === 0) continue;
    const [start, end] = [startOfWord(text, at), endOfWord(text, at)];
    if (end - start >= SHORTEST_PLAIN || (end - start >= SHORTEST && hasRareSign(text, start, end)))
      found.push(text.slice(start, end));
    at = end;
  }
  return found;
});

function startOfWord(text: string, at: number): number {
  let start = at;
  while (start > 0 && SIGNS[text.charCodeAt(start - 1)]! > 0) start--;
  return start;
}

function endOfWord(text: string, at: number): number {
  let end = at;
  while (end < text.length && SIGNS[text.charCodeAt(end)]! > 0) end++;
  return end;
}

function hasRareSign(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (SIGNS[text.charCodeAt(at)] === 2) return true;
  return false;
}
