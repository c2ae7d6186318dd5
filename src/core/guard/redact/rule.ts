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

const [BITS, LETTERS] = [5, 4];
const MASK = 2 ** (BITS * LETTERS) - 1;

/**
 * Finds every place in lowered text where one of the words may begin, by four letters of it: several times as fast as a pattern
 * with as many choices. Some places are wrong.
 */
export function wordFinder(words: readonly string[]): (low: string) => readonly number[] {
  const isBeginning = new Uint8Array(MASK + 1);
  const mark = (hash: number, length: number): void => {
    if (length === LETTERS) isBeginning[hash] = 1;
    else for (let letter = 0; letter < 2 ** BITS; letter++) mark((hash << BITS) | letter, length + 1);
  };
  const hashed = (hash: number, code: number) => ((hash << BITS) | (code & (2 ** BITS - 1))) & MASK;
  for (const word of words) {
    const beginning = word.split(/[ -]/)[0]!.slice(0, LETTERS); // names leave out what parts the words of a word
    const hash = Array.from({ length: beginning.length }, (_, at) => beginning.charCodeAt(at)).reduce(hashed, 0);
    mark(hash, beginning.length);
  }
  return (low) => {
    const found: number[] = [];
    for (let at = 0, hash = 0; at < low.length; at++) {
      hash = hashed(hash, low.charCodeAt(at));
      if (isBeginning[hash] === 1) found.push(at + 1 - LETTERS);
    }
    return found;
  };
}

/** Signs of a key: 1. Those that words seldom have: 2. */
const SIGNS = new Uint8Array(128);
for (const sign of 'abcdefghijklmnopqrstuvwxyz./:+=~,%@') SIGNS[sign.charCodeAt(0)] = 1;
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$-') SIGNS[sign.charCodeAt(0)] = 2;

/** The shortest key of any service, and the shortest one without a sign that words seldom have. */
const [SHORTEST, SHORTEST_PLAIN] = [13, 20];

/** The words of a text that may be keys, one a line. Looks at one letter in thirteen of the others. */
export const longWords = ofLast((text: string): string => {
  const signAt = (at: number) => SIGNS[text.charCodeAt(at)] ?? 0;
  let found = '';
  for (let at = SHORTEST - 1; at < text.length; at += SHORTEST) {
    if (signAt(at) === 0) continue;
    let [start, end, seen] = [at, at, 0];
    for (; signAt(end) > 0; end++) seen |= signAt(end);
    for (; signAt(start - 1) > 0; start--) seen |= signAt(start - 1);
    if (end - start >= (seen > 1 ? SHORTEST : SHORTEST_PLAIN)) found += `${text.slice(start, end)}\n`;
    at = end;
  }
  return found;
});
