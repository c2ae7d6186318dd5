import { fromJsPattern, searchPattern } from '../../core/judge/index.ts';

export type Match = { readonly line: number; readonly excerpt: string };

/** Longer patterns are refused: the built-in search takes quadratic time with them on repetitive texts. */
export const MOST_PATTERN = 100;
const MOST_EXCERPT = 300;
/** Characters times length of the pattern: about a second on the slowest texts. */
const MOST_WORK = 40_000_000;
const SPECIAL = /[\\^$.*+?()[\]{}|]/;

/**
 * Looks for lines that hold a pattern as it is written, in any case, or that match it as a regular expression. Expressions are
 * matched in one pass by our own matcher: one such as `(a+)+$` takes no longer than another. A pattern with counts in braces is
 * only searched for as it is written, since a count makes a short pattern long.
 */
export class LineSearch {
  readonly #wanted: string;
  readonly #pattern: string | undefined;
  #work = 0;

  constructor(pattern: string) {
    this.#wanted = pattern.toLowerCase();
    this.#pattern = SPECIAL.test(pattern) && !pattern.includes('{') ? compile(pattern) : undefined;
  }

  /** Whether a part of the text was searched for the plain pattern alone, because the rest would take too long. */
  get isCut(): boolean {
    return this.#work > MOST_WORK;
  }

  /** The first lines that match. Lines count from 1. */
  find(text: string, most: number): Match[] {
    const found: Match[] = [];
    let number = 0;
    for (const line of linesOf(text)) {
      number++;
      const at = line.toLowerCase().indexOf(this.#wanted);
      if (at < 0 && !this.#matches(line)) continue;
      found.push({ line: number, excerpt: excerptOf(line, at) });
      if (found.length === most) break;
    }
    return found;
  }

  #matches(line: string): boolean {
    if (this.#pattern === undefined) return false;
    this.#work += (line.length + 1) * this.#wanted.length;
    if (this.isCut) return false;
    const isMatch = searchPattern(this.#pattern, line);
    if (isMatch === undefined) this.#work = Number.POSITIVE_INFINITY;
    return isMatch === true;
  }
}

function compile(pattern: string): string | undefined {
  try {
    return fromJsPattern(pattern, /^[ -~]*$/.test(pattern) ? 'i' : '');
  } catch {
    return undefined; // then it is plain text, such as a lone bracket
  }
}

/** The lines of a text, one after the other: a list of them would double a large text. */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  for (;;) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    if (end < 0) return;
    start = end + 1;
  }
}

/** The line, or the part of a long line where the pattern stands. */
function excerptOf(line: string, at: number): string {
  if (line.length <= MOST_EXCERPT) return line;
  const start = Math.max(0, Math.min(at - MOST_EXCERPT / 3, line.length - MOST_EXCERPT));
  const end = start + MOST_EXCERPT;
  return `${start > 0 ? '… ' : ''}${line.slice(start, end).toWellFormed()}${end < line.length ? ' …' : ''}`;
}
