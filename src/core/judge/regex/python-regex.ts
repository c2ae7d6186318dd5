import { memoize } from '../../text/index.ts';
import { type Assertion, characterSet, compilePattern } from './compile-pattern.ts';

const MAX_STEPS = 15_000_000;

const read = memoize(
  (pattern: string) => {
    const instructions = compilePattern(pattern);
    const sets = [...new Set(instructions.flatMap(({ set }) => set ?? []))];
    const setNumbers = new Map(sets.map((set, number) => [set, number]));
    return { instructions, sets, setOf: Int32Array.from(instructions, ({ set }) => (set ? setNumbers.get(set)! : -1)) };
  },
  { maxEntries: 500 },
);
type Program = ReturnType<typeof read>;

/** Throws `PatternError` for a pattern that cannot be used. */
export const checkPattern = (pattern: string): void => void read(pattern);

/** Python's `re.search` as a yes or no, in one pass: time is at most pattern times text. `undefined`: that is too much. */
export const searchPattern = (pattern: string, text: string): boolean | undefined =>
  new Search(read(pattern), text).run();

/** Typed arrays that are reused for every character: this loop must be fast. */
class Search {
  readonly #program: Program;
  readonly #text: string;
  /** The last place in the text at which an instruction was reached: it is followed once there. */
  readonly #reachedAt: Int32Array;
  readonly #waiting: Int32Array;
  #waitingCount = 0;
  /** Those that read the next character, and those that read the one before. */
  #reading: Int32Array;
  #readingCount = 0;
  #spare: Int32Array;
  /** Where a set was last asked, and its answer. */
  readonly #askedAt: Int32Array;
  readonly #isMember: Uint8Array;
  #steps = 0;
  #at = 0;
  #before: number | undefined;
  #ahead: number | undefined;

  constructor(program: Program, text: string) {
    const size = program.instructions.length + 1;
    this.#program = program;
    this.#text = text;
    this.#reachedAt = new Int32Array(size).fill(-1);
    this.#waiting = new Int32Array(size);
    this.#reading = new Int32Array(size);
    this.#spare = new Int32Array(size);
    this.#askedAt = new Int32Array(program.sets.length).fill(-1);
    this.#isMember = new Uint8Array(program.sets.length);
    this.#ahead = text.codePointAt(0);
  }

  run(): boolean | undefined {
    while (this.#steps <= MAX_STEPS) {
      this.#reach(0); // the pattern may begin anywhere
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

  /** Finds every instruction that may read the next character. True at the end of the pattern. */
  #follow(): boolean {
    const { instructions } = this.#program;
    while (this.#waitingCount > 0) {
      this.#steps++;
      const place = this.#waiting[--this.#waitingCount]!;
      if (place === instructions.length) return true;
      const { jumps, assertion } = instructions[place]!;
      if (assertion !== undefined && this.#holds(assertion)) this.#reach(place + 1);
      if (jumps === undefined) continue;
      this.#steps += jumps.length;
      for (let index = 0; index < jumps.length; index++) this.#reach(place + jumps[index]!);
    }
    return false;
  }

  #read(codePoint: number): void {
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
      if (this.#holdsSet(this.#program.setOf[place]!, codePoint)) this.#reach(place + 1);
    }
  }

  #holdsSet(number: number, codePoint: number): boolean {
    if (this.#askedAt[number] !== this.#at) {
      this.#askedAt[number] = this.#at;
      this.#isMember[number] = this.#program.sets[number]!(codePoint) ? 1 : 0;
    }
    return this.#isMember[number] === 1;
  }

  #holds(assertion: Assertion): boolean {
    const before = this.#before;
    const ahead = this.#ahead;
    if (assertion === '^' || assertion === '\\A') return before === undefined;
    if (assertion === '^m') return before === undefined || before === NEWLINE;
    if (assertion === '\\Z') return ahead === undefined;
    if (assertion === '$m') return ahead === undefined || ahead === NEWLINE;
    if (assertion === '$') return ahead === undefined || (ahead === NEWLINE && this.#at === this.#text.length - 1);
    if (this.#text === '') return false; // before Python 3.14, neither \b nor \B is in an empty text
    const isWord = assertion.endsWith('a') ? isAsciiWord : isUnicodeWord;
    const isBoundary = (before !== undefined && isWord(before)) !== (ahead !== undefined && isWord(ahead));
    return isBoundary === assertion.startsWith('\\b');
  }
}

const NEWLINE = 10;
const isUnicodeWord = characterSet('\\w', '');
const isAsciiWord = characterSet('\\w', 'a');
