import { type CharacterSet, toSet } from './character-set.ts';
import { type Flags, parseClass, parseEscape } from './parse-class.ts';
import { broken, refused } from './pattern-error.ts';
import { PatternReader } from './pattern-reader.ts';

/** `end` is the very end, `last-line-end` also before a newline that is the last character. */
export type Assertion = 'start' | 'line-start' | 'end' | 'last-line-end' | 'line-end' | 'boundary' | 'no-boundary';

/** A pattern as a tree. What a group captured, and which of two ways is tried first, is nothing to a yes or no. */
export type PatternNode =
  | { readonly type: 'set'; readonly set: CharacterSet }
  | { readonly type: 'assertion'; readonly assertion: Assertion; readonly isAscii: boolean }
  | { readonly type: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly type: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly type: 'repeat'; readonly body: PatternNode; readonly min: number; readonly max: number };

const NO_FLAGS: Flags = { ignoresCase: false, isMultiline: false, dotIsAll: false, isAscii: false };
const FLAGS: Readonly<Record<string, Partial<Flags>>> = {
  i: { ignoresCase: true },
  m: { isMultiline: true },
  s: { dotIsAll: true },
  a: { isAscii: true },
  u: {},
};

/** Python's syntax of patterns, without what could not be matched in one pass over the text. Throws `PatternError`. */
export function parsePattern(pattern: string): PatternNode {
  const reader = new PatternReader(pattern);
  const scope = { flags: globalFlags(reader), names: new Set<string>(), depth: 0 };
  const node = parseChoice(reader, scope);
  if (reader.peek() !== undefined) throw broken(`")" at character ${reader.place + 1} closes no group`);
  return node;
}

type Scope = { readonly flags: Flags; readonly names: Set<string>; readonly depth: number };

/** Deeper nesting is never meant. */
const MAX_DEPTH = 100;

function globalFlags(reader: PatternReader): Flags {
  let flags = NO_FLAGS;
  for (let letters = true; letters; ) {
    const start = reader.place;
    letters = reader.skip('(?') && reader.take(/^[a-zA-Z]$/) !== '' && reader.skip(')');
    if (letters) flags = { ...flags, ...readFlags(reader.since(start).slice(2, -1)) };
    else reader.place = start;
  }
  return flags;
}

function readFlags(letters: string): Partial<Flags> {
  const unknown = Array.from(letters).find((letter) => FLAGS[letter] === undefined);
  if (unknown !== undefined) throw refused(`(?${unknown}`, 'a flag other than a, i, m, s and u');
  return Object.assign({}, ...Array.from(letters).map((letter) => FLAGS[letter]));
}

function parseChoice(reader: PatternReader, scope: Scope): PatternNode {
  if (scope.depth > MAX_DEPTH) throw refused('(', `a group inside ${MAX_DEPTH} others`);
  const options = [parseSequence(reader, scope)];
  while (reader.skip('|')) options.push(parseSequence(reader, scope));
  return options.length === 1 ? options[0]! : { type: 'choice', options };
}

function parseSequence(reader: PatternReader, scope: Scope): PatternNode {
  const parts: PatternNode[] = [];
  while (reader.peek() !== undefined && reader.peek() !== '|' && reader.peek() !== ')') {
    parts.push(parseRepeats(reader, parseAtom(reader, scope)));
  }
  return { type: 'sequence', parts };
}

/** The next thing that may be repeated. */
function parseAtom(reader: PatternReader, scope: Scope): PatternNode {
  const { flags } = scope;
  const character = reader.next()!;
  if (character === '(') return parseGroup(reader, scope);
  if (character === '[') return { type: 'set', set: parseClass(reader, flags) };
  if (character === '.') return { type: 'set', set: flags.dotIsAll ? () => true : (codePoint) => codePoint !== 10 };
  if (character === '^') return assertion(flags.isMultiline ? 'line-start' : 'start', flags);
  if (character === '$') return assertion(flags.isMultiline ? 'line-end' : 'last-line-end', flags);
  if (character === '\\') return parseEscaped(reader, flags);
  if (isRepeat(reader, character)) throw broken(`there is nothing that ${JSON.stringify(character)} could repeat`);
  return literalNode(character, flags);
}

const assertion = (kind: Assertion, { isAscii }: Flags): PatternNode => ({
  type: 'assertion',
  assertion: kind,
  isAscii,
});

const ASSERTIONS: Readonly<Record<string, Assertion>> = { A: 'start', Z: 'end', b: 'boundary', B: 'no-boundary' };

function parseEscaped(reader: PatternReader, flags: Flags): PatternNode {
  const kind = ASSERTIONS[reader.peek() ?? ''];
  if (kind === undefined) return { type: 'set', set: toSet([parseEscape(reader, flags, false)], flags) };
  reader.next();
  return assertion(kind, flags);
}

function literalNode(character: string, flags: Flags): PatternNode {
  const codePoint = character.codePointAt(0)!;
  return { type: 'set', set: toSet([{ first: codePoint, last: codePoint }], flags) };
}

const REFUSED_GROUPS: Readonly<Record<string, string>> = {
  '?=': 'a lookahead',
  '?!': 'a negative lookahead',
  '?<=': 'a lookbehind',
  '?<!': 'a negative lookbehind',
  '?P=': 'a backreference',
  '?(': 'a conditional group',
  '?>': 'an atomic group',
  '?#': 'a comment',
};

/** A group, whose parenthesis was just read. */
function parseGroup(reader: PatternReader, scope: Scope): PatternNode {
  const start = reader.place - 1;
  for (const [opening, what] of Object.entries(REFUSED_GROUPS)) {
    if (reader.skip(opening)) throw refused(`(${opening}`, what);
  }
  const body = parseChoice(reader, { ...scope, flags: groupFlags(reader, scope), depth: scope.depth + 1 });
  if (!reader.skip(')')) throw broken(`the group is not closed: ${reader.since(start).slice(0, 40)}`);
  return body;
}

/** Reads what stands between `(?` and the group's body: a name, flags, or nothing. */
function groupFlags(reader: PatternReader, { flags, names }: Scope): Flags {
  if (reader.skip('?P<')) return readName(reader, names) && flags;
  if (!reader.skip('?')) return flags;
  const start = reader.place;
  const on = readFlags(reader.take(/^[a-zA-Z]$/));
  const off = reader.skip('-') ? readFlags(reader.take(/^[a-zA-Z]$/)) : {};
  if (reader.skip(':')) return { ...flags, ...on, ...turnedOff(off) };
  if (reader.peek() === ')') throw broken(`the flags (?${reader.since(start)}) must stand at the beginning`);
  throw broken(`(?${reader.since(start)}${reader.peek() ?? ''} begins no group`);
}

const turnedOff = (flags: Partial<Flags>) => Object.fromEntries(Object.keys(flags).map((key) => [key, false]));

function readName(reader: PatternReader, names: Set<string>): true {
  const name = reader.take(/^[^>)]$/);
  if (!reader.skip('>') || !/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) throw broken(`(?P<${name} has no proper name`);
  if (names.has(name)) throw broken(`two groups are called ${name}`);
  names.add(name);
  return true;
}

/** Whether a character that was just read says how often something stands. A brace may be a plain one. */
function isRepeat(reader: PatternReader, character: string): boolean {
  if ('*+?'.includes(character)) return true;
  const start = reader.place;
  const isBound = character === '{' && readBounds(reader) !== undefined;
  reader.place = start;
  return isBound;
}

function parseRepeats(reader: PatternReader, body: PatternNode): PatternNode {
  const start = reader.place;
  const bounds = readQuantifier(reader);
  if (!bounds) return body;
  if (body.type === 'assertion')
    throw broken(`there is nothing that ${JSON.stringify(reader.since(start))} could repeat`);
  if (bounds.max < bounds.min) throw broken(`${reader.since(start)} has more at least than at most`);
  if (reader.skip('+')) throw refused(reader.since(start), 'a possessive quantifier');
  reader.skip('?'); // as few as possible: the same to a yes or no
  if (readQuantifier(reader)) throw broken(`${reader.since(start)} repeats a repetition`);
  return { type: 'repeat', body, ...bounds };
}

type Bounds = { readonly min: number; readonly max: number };

function readQuantifier(reader: PatternReader): Bounds | undefined {
  if (reader.skip('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
  if (reader.skip('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
  if (reader.skip('?')) return { min: 0, max: 1 };
  const start = reader.place;
  const bounds = reader.skip('{') ? readBounds(reader) : undefined;
  if (!bounds) reader.place = start;
  return bounds;
}

function readBounds(reader: PatternReader): Bounds | undefined {
  if (reader.peek() === '}') return undefined;
  const low = reader.take(/^[0-9]$/);
  const high = reader.skip(',') ? reader.take(/^[0-9]$/) : low;
  if (!reader.skip('}')) return undefined;
  return { min: Number(low), max: high === '' ? Number.POSITIVE_INFINITY : Number(high) };
}
