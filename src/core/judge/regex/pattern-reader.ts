/** A pattern, read from left to right by whole characters. */
export class PatternReader {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#characters = Array.from(pattern);
  }

  get place(): number {
    return this.#at;
  }

  /** Back to where it has been. */
  set place(at: number) {
    this.#at = at;
  }

  peek(ahead = 0): string | undefined {
    return this.#characters[this.#at + ahead];
  }

  /** The next character, or nothing at the end. */
  next(): string | undefined {
    return this.#characters[this.#at++];
  }

  /** Passes over a text if it stands here. */
  skip(text: string): boolean {
    const expected = Array.from(text);
    if (!expected.every((character, index) => this.peek(index) === character)) return false;
    this.#at += expected.length;
    return true;
  }

  /** As many characters as fit, at most `most`. */
  take(fits: RegExp, most = Number.POSITIVE_INFINITY): string {
    let taken = '';
    while (taken.length < most && this.peek() !== undefined && fits.test(this.peek()!)) taken += this.next();
    return taken;
  }

  /** What has been read since a place. */
  since(start: number): string {
    return this.#characters.slice(start, this.#at).join('');
  }
}
