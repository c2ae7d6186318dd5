import { type CharacterSet, type ClassPart, categoryOf, toSet } from './character-set.ts';
import { broken, refused } from './pattern-error.ts';
import type { PatternReader } from './pattern-reader.ts';

export type Flags = {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotIsAll: boolean;
  readonly isAscii: boolean;
};

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11, '\\': 92 };
const HEX_LENGTHS: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const literal = (codePoint: number): ClassPart => ({ first: codePoint, last: codePoint });

/** What stands behind a backslash that was just read: a character or a category. Those of assertions are read before. */
export function parseEscape(reader: PatternReader, flags: Flags, isInClass: boolean): ClassPart {
  const start = reader.place;
  const letter = reader.next();
  if (letter === undefined) throw broken('it ends in the middle of an escape: \\');
  const category = categoryOf(letter, flags.isAscii);
  if (category) return { category };
  if (CONTROL[letter] !== undefined) return literal(CONTROL[letter]);
  if (letter === 'b' && isInClass) return literal(8);
  if (HEX_LENGTHS[letter] !== undefined) return literal(parseHex(reader, letter, HEX_LENGTHS[letter]));
  if (/^[0-9]$/.test(letter)) return literal(parseOctal(reader, letter, isInClass));
  if (letter === 'N') throw refused('\\N', 'a character by name');
  if (/^[A-Za-z]$/.test(letter)) throw broken(`\\${reader.since(start)} is no escape`);
  return literal(letter.codePointAt(0)!);
}

function parseHex(reader: PatternReader, letter: string, length: number): number {
  const digits = reader.take(/^[0-9a-fA-F]$/, length);
  const value = Number.parseInt(digits, 16);
  if (digits.length === length && value <= 0x10ffff) return value;
  throw broken(`\\${letter}${digits} is no character: it takes ${length} hexadecimal digits`);
}

/** `\0` and three octal digits are a character; any other number means a group. */
function parseOctal(reader: PatternReader, first: string, isInClass: boolean): number {
  const isOctal = /^[0-7]$/;
  const most = first === '0' || isOctal.test(first) ? 2 : 0;
  const start = reader.place;
  const digits = first + reader.take(isOctal, most);
  if (first === '0' || digits.length === 3 || (isInClass && most > 0)) {
    const value = Number.parseInt(digits, 8);
    if (value <= 0o377) return value;
    throw broken(`\\${digits} is more than an octal escape can be: \\377`);
  }
  reader.place = start;
  if (isInClass) throw broken(`\\${first} is no escape`);
  throw refused(`\\${first}${reader.take(/^[0-9]$/)}`, 'a backreference');
}

/** A class, whose bracket was just read. */
export function parseClass(reader: PatternReader, flags: Flags): CharacterSet {
  const start = reader.place - 1;
  const isNegated = reader.skip('^');
  const parts: ClassPart[] = [];
  while (reader.peek() !== ']' || parts.length === 0) parts.push(parseMember(reader, flags, start));
  reader.next();
  return toSet(parts, { ...flags, isNegated });
}

/** A character, a category, or a range of characters. */
function parseMember(reader: PatternReader, flags: Flags, start: number): ClassPart {
  const from = reader.place;
  const part = parseOne(reader, flags, start);
  if (reader.peek() !== '-' || reader.peek(1) === ']') return part;
  reader.next();
  const last = parseOne(reader, flags, start);
  if ('category' in part || 'category' in last || last.first < part.first) {
    throw broken(`${reader.since(from)} is no range of characters`);
  }
  return { first: part.first, last: last.last };
}

function parseOne(reader: PatternReader, flags: Flags, start: number): ClassPart {
  const character = reader.next();
  if (character === undefined) throw broken(`the class is not closed: ${reader.since(start)}`);
  return character === '\\' ? parseEscape(reader, flags, true) : literal(character.codePointAt(0)!);
}
