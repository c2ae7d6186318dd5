import { head, strip, WHITESPACE } from '../../core/text/index.ts';

const SPACES = new RegExp(`[${WHITESPACE}]+`);
/** All that Python takes for the end of a line. */
const ENDS_OF_LINES = '\\n-\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINE_BREAK = new RegExp(`[${ENDS_OF_LINES}]`);
const OPENING = '<answer>';

/** What a reply answers: all from its last `<answer>` to its last `</answer>`, else its last line. */
export function answerIn(reply: string): string {
  const start = lastIndexOf(reply, /<answer>/gi);
  const end = lastIndexOf(reply, /<\/answer>/gi);
  if (start !== -1 && end > start) return strip(reply.slice(start + OPENING.length, end));
  const lines = reply.split(LINE_BREAK).map(strip).filter(Boolean);
  return lines.at(-1) ?? '';
}

function lastIndexOf(text: string, pattern: RegExp): number {
  let last = -1;
  for (const { index } of text.matchAll(pattern)) last = index;
  return last;
}

/**
 * Average normalised Levenshtein similarity, the best over the right answers: 1 − distance by the length of the longer text, or 0
 * where half of it and more differs. Case and space do not count.
 */
export function scoreAnls(answer: string, golds: readonly string[]): number {
  const wanted = golds.map((gold) => codePoints(normalize(gold)));
  const longest = Math.max(0, ...wanted.map(({ length }) => length));
  // An answer more than twice as long as a right one scores 0, however much longer it is.
  const given = codePoints(head(normalize(answer), 2 * longest + 1));
  return Math.max(0, ...wanted.map((gold) => similarity(given, gold)));
}

const normalize = (text: string) => strip(text).toLowerCase().split(SPACES).join(' ');

const codePoints = (text: string): number[] => Array.from(text, (character) => character.codePointAt(0)!);

function similarity(one: readonly number[], other: readonly number[]): number {
  const longer = Math.max(one.length, other.length);
  if (longer === 0) return 1;
  if (Math.abs(one.length - other.length) / longer >= 0.5) return 0;
  const distance = levenshtein(one, other) / longer;
  return distance < 0.5 ? 1 - distance : 0;
}

function levenshtein(one: readonly number[], other: readonly number[]): number {
  const row = Uint32Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [above, character] of one.entries()) {
    let diagonal = above;
    row[0] = above + 1;
    for (let at = 1; at <= other.length; at++) {
      const replaced = diagonal + (character === other[at - 1] ? 0 : 1);
      diagonal = row[at]!;
      row[at] = Math.min(replaced, diagonal + 1, row[at - 1]! + 1);
    }
  }
  return row[other.length]!;
}
