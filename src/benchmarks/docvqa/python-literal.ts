import { parseJson } from '../../core/text/index.ts';
import { floatText, type Literal, repr } from './python-value.ts';

type Language = 'python' | 'json';

const WORDS: Readonly<Record<Language, ReadonlyMap<string, string>>> = {
  python: new Map(['True', 'False', 'None'].map((word) => [word, word])),
  json: new Map(Object.entries({ true: 'True', false: 'False', null: 'None' })),
};

/** Longer texts and deeper values are not answers. */
const LONGEST = 100_000;
const MAX_DEPTH = 100;
const LONGEST_INTEGER = 1_000;

/**
 * What `ast.literal_eval` of Python makes of a text: strings, numbers, lists, tuples and dicts. `undefined` for all else, also for
 * sets, bytes and complex numbers. Takes linear time.
 */
export const parseLiteral = (text: string): Literal | undefined => read(text, 'python');

/** The same for JSON. It keeps 5.0 apart from 5. */
export const parseJsonLiteral = (text: string): Literal | undefined =>
  text.length > LONGEST || parseJson(text) === undefined ? undefined : read(text, 'json');

function read(text: string, language: Language): Literal | undefined {
  if (text.length > LONGEST) return undefined;
  try {
    return new LiteralReader(text, language).whole();
  } catch (error) {
    if (error instanceof NoLiteral) return undefined;
    throw error;
  }
}

/** Ends the reading, at any place. */
class NoLiteral extends Error {}

const NUMBER = /(?:\d(?:_?\d)*)?\.?(?:\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?/y;
const DECIMAL = /^(?:0(?:_?0)*|[1-9](?:_?\d)*)$/;
const PREFIXED = /0(?:[xX](?:_?[\da-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)/y;
const WORD = /[A-Za-z]+/y;
const STRING_START = /[uUrR]?(?:'''|"""|'|")/y;
const SIGN = /[+-][ \t\f]*/y;
const SPACE = /[ \t\f]*/y;
const SPACE_AND_LINES = /[ \t\f\r\n]*/y;

class LiteralReader {
  readonly #text: string;
  readonly #language: Language;
  #at = 0;
  #depth = 0;

  constructor(text: string, language: Language) {
    this.#text = text;
    this.#language = language;
  }

  /** A comma makes a tuple, also without brackets. */
  whole(): Literal {
    this.#skipSpace();
    const { entries, hasComma } = this.#entries('');
    if (entries.length === 0) throw new NoLiteral();
    return hasComma ? { kind: 'tuple', entries } : entries[0]!;
  }

  #value(): Literal {
    if (this.#takes('[')) return { kind: 'list', entries: this.#inside(']').entries };
    if (this.#takes('(')) {
      const { entries, hasComma } = this.#inside(')');
      return entries.length === 1 && !hasComma ? entries[0]! : { kind: 'tuple', entries };
    }
    if (this.#takes('{')) return this.#dict();
    return this.#string() ?? this.#number() ?? this.#word();
  }

  #inside(close: string) {
    this.#enter();
    const found = this.#entries(close);
    this.#depth--;
    return found;
  }

  /** Reads up to `close` and past it. An empty `close` means the end of the text. */
  #entries(close: string): { entries: Literal[]; hasComma: boolean } {
    const entries: Literal[] = [];
    let hasComma = false;
    while (!this.#closes(close)) {
      if (entries.length > 0 && !hasComma) throw new NoLiteral();
      entries.push(this.#value());
      this.#skipSpace();
      if (this.#closes(close)) return { entries, hasComma: entries.length > 1 };
      this.#expect(',');
      hasComma = true;
    }
    return { entries, hasComma };
  }

  #closes(close: string): boolean {
    return close === '' ? this.#at === this.#text.length : this.#takes(close);
  }

  #dict(): Literal {
    this.#enter();
    const entries = new Map<string, [Literal, Literal]>();
    while (!this.#takes('}')) {
      const key = this.#value();
      if (key.kind === 'list' || key.kind === 'dict') throw new NoLiteral();
      this.#skipSpace();
      this.#expect(':');
      const value = this.#value();
      entries.set(repr(key), [entries.get(repr(key))?.[0] ?? key, value]);
      this.#skipSpace();
      if (this.#takes('}')) break;
      this.#expect(',');
    }
    this.#depth--;
    return { kind: 'dict', entries: [...entries.values()] };
  }

  /** Strings that follow each other are one. */
  #string(): Literal | undefined {
    let text: string | undefined;
    for (let start = this.#match(STRING_START); start !== undefined; start = this.#match(STRING_START)) {
      text = (text ?? '') + this.#restOfString(start);
      this.#skipSpace();
    }
    return text === undefined ? undefined : { kind: 'text', text };
  }

  #restOfString(start: string): string {
    const isRaw = /^r/i.test(start);
    const quote = start.replace(/^[ur]/i, '');
    const from = this.#at;
    while (!this.#text.startsWith(quote, this.#at)) {
      const character = this.#text[this.#at];
      if (character === undefined || (quote.length === 1 && /[\r\n]/.test(character))) throw new NoLiteral();
      this.#at += character === '\\' ? 2 : 1;
    }
    const inner = this.#text.slice(from, this.#at);
    this.#at += quote.length;
    return isRaw ? inner : withoutEscapes(inner, this.#language);
  }

  #number(): Literal | undefined {
    const sign = this.#match(SIGN)?.[0] ?? '';
    const text = this.#match(PREFIXED) ?? this.#match(NUMBER) ?? '';
    if (text === '' && sign === '') return undefined;
    if (/\w/.test(this.#text[this.#at] ?? '')) throw new NoLiteral();
    return { kind: 'written', text: numberText(sign, text.replaceAll('_', ''), text) };
  }

  #word(): Literal {
    const text = WORDS[this.#language].get(this.#match(WORD) ?? '');
    if (text === undefined || /\w/.test(this.#text[this.#at] ?? '')) throw new NoLiteral();
    return { kind: 'written', text };
  }

  #enter(): void {
    this.#depth++;
    if (this.#depth > MAX_DEPTH) throw new NoLiteral();
    this.#skipSpace();
  }

  /** Reads past the piece and the space after it. */
  #takes(piece: string): boolean {
    if (!this.#text.startsWith(piece, this.#at)) return false;
    this.#at += piece.length;
    this.#skipSpace();
    return true;
  }

  #expect(piece: string): void {
    if (!this.#takes(piece)) throw new NoLiteral();
  }

  /** Line breaks count as space only inside brackets. */
  #skipSpace(): void {
    this.#match(this.#depth > 0 ? SPACE_AND_LINES : SPACE);
  }

  /** An empty match counts as none. */
  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found === '' ? undefined : found;
  }
}

function numberText(sign: string, digits: string, written: string): string {
  const minus = sign === '-' ? '-' : '';
  if (/^0[xob]/i.test(digits)) {
    if (digits.length > LONGEST_INTEGER) throw new NoLiteral();
    return withSign(minus, String(BigInt(digits)));
  }
  if (DECIMAL.test(written)) return withSign(minus, digits.replace(/^0+$/, '0'));
  if (!/[.e]/i.test(digits) || !/^\.?\d/.test(digits)) throw new NoLiteral();
  return floatText(minus === '' ? Number(digits) : -Number(digits));
}

const withSign = (minus: string, digits: string) => (digits === '0' ? '0' : minus + digits);

const ESCAPE = /\\(?:\r?\n|[0-7]{1,3}|x[\da-fA-F]{2}|u[\da-fA-F]{4}|U[\da-fA-F]{8}|[\s\S])/g;
const ESCAPED: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\n': '',
  '\r\n': '',
};

function withoutEscapes(text: string, language: Language): string {
  return text.replace(ESCAPE, (sequence) => {
    const rest = sequence.slice(1);
    if (/^[0-7]/.test(rest)) return String.fromCharCode(Number.parseInt(rest, 8));
    if (/^[xuU]./.test(rest)) return characterAt(Number.parseInt(rest.slice(1), 16));
    if (/^[xuUN]$/.test(rest)) throw new NoLiteral();
    if (language === 'json' && rest === '/') return rest;
    return ESCAPED[rest] ?? sequence;
  });
}

function characterAt(code: number): string {
  if (code > 0x10ffff) throw new NoLiteral();
  return String.fromCodePoint(code);
}
