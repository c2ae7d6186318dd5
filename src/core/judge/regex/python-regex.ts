import { memoize } from '../../text/index.ts';
import { wordsOf } from './character-set.ts';
import { compilePattern, type Program } from './compile-program.ts';
import type { Assertion } from './parse-pattern.ts';

/** So many steps are well under a second. A text of a million characters may take fifteen of them each. */
const MAX_STEPS = 15_000_000;

const compile = memoize(compilePattern, { maxEntries: 500 });

/** Says what is wrong with a pattern by throwing `PatternError`. */
export const checkPattern = (pattern: string): void => void compile(pattern);

/**
 * Python's `re.search` as a yes or no, in one pass over the text: each character is met once by every place of the pattern
 * that may be next, so that no text makes it slower than pattern times text. `undefined`: that is too much, nobody knows.
 */
export function searchPattern(pattern: string, text: string): boolean | undefined {
  return new Search(compile(pattern), text).run();
}

/** Typed arrays that are used again for every character: this is the one loop here that must be fast. */
class Search {
  readonly #program: Program;
  readonly #text: string;
  /** The last place in the text at which an instruction was reached, so that it is followed once there. */
  readonly #reachedAt: Int32Array;
  /** Instructions that are reached and not followed yet. */
  readonly #waiting: Int32Array;
  #waitingCount = 0;
  /** Those that read the next character; and those that read the one before. */
  #reading: Int32Array;
  #readingCount = 0;
  #spare: Int32Array;
  /** Where a set was last asked, and what it said. */
  readonly #askedAt: Int32Array;
  readonly #isMember: Uint8Array;
  #steps = 0;
  #at = 0;
  #before: number | undefined;
  #ahead: number | undefined;

  constructor(program: Program, text: string) {
    const size = program.instructions.length;
    this.#program = program;
    this.#text = text;
    this.#reachedAt = new Int32Array(size).fill(-1);
    this.#waiting = new Int32Array(size);
    this.#reading = new Int32Array(size);
    this.#spare = new Int32Array(size);
    this.#askedAt = new Int32Array(program.sets.length).fill(-1);
    this.#isMember = new Uint8Array(program.sets.length);
  }

  run(): boolean | undefined {
    this.#ahead = this.#text.codePointAt(0);
    this.#reach(this.#program.start);
    while (this.#steps <= MAX_STEPS) {
      if (this.#follow()) return true;
      if (this.#ahead === undefined) return false;
      this.#read(this.#ahead);
    }
    return undefined;
  }

  #reach(place: number): void {
    if (this.#reachedAt[place] === this.#at) return;
    this.#reachedAt[place] = this.#at;
    if (this.#program.setOf[place]! >= 0) this.#reading[this.#readingCount++] = place;
    else this.#waiting[this.#waitingCount++] = place;
  }

  /** Finds every instruction that may read the next character. Says whether the end of the pattern was reached. */
  #follow(): boolean {
    while (this.#waitingCount > 0) {
      this.#steps++;
      const instruction = this.#program.instructions[this.#waiting[--this.#waitingCount]!]!;
      if (instruction.type === 'match') return true;
      if (instruction.type === 'assertion') {
        if (this.#holds(instruction.assertion, instruction.isAscii)) this.#reach(instruction.next);
      } else if (instruction.type === 'fork') {
        const { targets } = instruction;
        this.#steps += targets.length;
        for (let index = 0; index < targets.length; index++) this.#reach(targets[index]!);
      }
    }
    return false;
  }

  /** Passes over a character. The pattern may begin behind it too. */
  #read(codePoint: number): void {
    const { setOf, next, start } = this.#program;
    const reading = this.#reading;
    const count = this.#readingCount;
    this.#reading = this.#spare;
    this.#spare = reading;
    this.#readingCount = 0;
    this.#steps += count + 1;
    this.#at += codePoint > 0xffff ? 2 : 1;
    this.#before = codePoint;
    this.#ahead = this.#text.codePointAt(this.#at);
    for (let index = 0; index < count; index++) {
      const place = reading[index]!;
      if (this.#holdsSet(setOf[place]!, codePoint)) this.#reach(next[place]!);
    }
    this.#reach(start);
  }

  #holdsSet(index: number, codePoint: number): boolean {
    if (this.#askedAt[index] !== this.#at) {
      this.#askedAt[index] = this.#at;
      this.#isMember[index] = this.#program.sets[index]!(codePoint) ? 1 : 0;
    }
    return this.#isMember[index] === 1;
  }

  #holds(assertion: Assertion, isAscii: boolean): boolean {
    const before = this.#before;
    const ahead = this.#ahead;
    if (assertion === 'start') return before === undefined;
    if (assertion === 'line-start') return before === undefined || before === NEWLINE;
    if (assertion === 'end') return ahead === undefined;
    if (assertion === 'line-end') return ahead === undefined || ahead === NEWLINE;
    if (assertion === 'last-line-end') return ahead === undefined || (ahead === NEWLINE && this.#isLast());
    if (this.#text === '') return false; // in Python neither \b nor \B is in an empty text
    const isWord = wordsOf(isAscii);
    const isBoundary = (before !== undefined && isWord(before)) !== (ahead !== undefined && isWord(ahead));
    return isBoundary === (assertion === 'boundary');
  }

  #isLast(): boolean {
    return this.#at === this.#text.length - 1;
  }
}

const NEWLINE = 10;
