import { memoize, WHITESPACE } from '../../text/index.ts';

export class PatternError extends Error {
  override readonly name = 'PatternError';
  /** Python accepts it. We do not: it could take endless time, or is rare. */
  readonly isRefused: boolean;

  constructor(message: string, { isRefused = false } = {}) {
    super(message);
    this.isRefused = isRefused;
  }
}

const broken = (message: string) => new PatternError(message);
const refused = (part: string, what: string) =>
  new PatternError(`${JSON.stringify(part)} is ${what}, which is not supported here`, { isRefused: true });

type CharacterSet = (codePoint: number) => boolean;
type Flags = string;

/** A range, or a category as JavaScript writes it inside a class. */
type Member = { readonly first: number; readonly last: number } | { readonly category: string };

/** `\d`, `\s` and `\w` in Python, without its flag `a` and with it. */
const CATEGORIES: Readonly<Record<string, readonly [unicode: string, ascii: string]>> = {
  d: ['\\p{Nd}', '0-9'],
  s: [WHITESPACE, '\\t-\\r\\x20'],
  w: ['\\p{L}\\p{N}_', '0-9A-Za-z_'],
};

const CODE = 'x[\\da-fA-F]{2}|u[\\da-fA-F]{4}|U[\\da-fA-F]{8}';
const ESCAPE = `\\\\(?:${CODE}|0[0-7]{0,2}|[0-7]{3}|\\d+|[^])`;
/** Inside a class, one or two octal digits are a character too. */
const CHARACTER = `\\\\(?:${CODE}|[0-7]{1,3}|[^])|[^]`;
const MEMBER = new RegExp(`(${CHARACTER})(?:-(${CHARACTER}))?`, 'gu');

function classSet(written: string, flags: Flags): CharacterSet {
  const isNegated = written.startsWith('[^');
  const members = [...written.slice(isNegated ? 2 : 1, -1).matchAll(MEMBER)].map(([whole, first, last]) => {
    const member = memberOf(first!, flags, true);
    return last === undefined ? member : rangeOf(whole, member, memberOf(last, flags, true));
  });
  return membersSet(members, flags, isNegated);
}

/** Outside a class. The same text is always the same set, so that a search asks it once for each place. */
export const characterSet = (written: string, flags: Flags): CharacterSet => setsWith(flags)(written);

const setsWith = memoize(
  (flags: Flags) =>
    memoize(
      (written: string): CharacterSet => {
        const member = memberOf(written, flags, false);
        const isExact = 'first' in member && !flags.includes('i');
        return isExact ? (codePoint) => codePoint === member.first : membersSet([member], flags);
      },
      { maxEntries: 1_000 },
    ),
  { maxEntries: 100 },
);

function memberOf(written: string, flags: Flags, isInClass: boolean): Member {
  const letter = written.startsWith('\\') ? written.slice(1) : undefined;
  const category = CATEGORIES[letter?.toLowerCase() ?? '']?.[flags.includes('a') ? 1 : 0];
  if (category) return { category: letter === letter!.toLowerCase() ? category : `[^${category}]` };
  const code = letter === undefined ? written.codePointAt(0)! : escapedCode(letter, isInClass);
  return { first: code, last: code };
}

const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, n: 10, r: 13, t: 9, v: 11 };

function escapedCode(sign: string, isInClass: boolean): number {
  const code = Number.parseInt(sign.slice(1), 16);
  if (/^[xuU]./.test(sign) && code <= 0x10ffff) return code;
  if (/^(?:0|[0-7]{3})/.test(sign) || (isInClass && /^[0-7]/.test(sign))) {
    const octal = Number.parseInt(sign, 8);
    if (octal <= 0o377) return octal;
    throw broken(`\\${sign} is more than an octal escape can be: \\377`);
  }
  if (/^\d/.test(sign) && !isInClass) throw refused(`\\${sign}`, 'a backreference');
  if (sign === 'N') throw refused('\\N', 'a character by name');
  if (sign === 'b' && isInClass) return 8;
  const control = CONTROL[sign];
  if (control === undefined && /^[a-zA-Z\d]/.test(sign)) throw broken(`\\${sign} is no escape`);
  return control ?? sign.codePointAt(0)!;
}

function rangeOf(whole: string, from: Member, to: Member): Member {
  if ('first' in from && 'first' in to && from.first <= to.first) return { first: from.first, last: to.last };
  throw broken(`${whole} is no range of characters`);
}

/** JavaScript decides about each character. Without case, Python compares the ranges and not the categories. */
function membersSet(members: readonly Member[], flags: Flags, isNegated = false): CharacterSet {
  const categories = members.flatMap((member) => ('category' in member ? member.category : []));
  const ranges = members.flatMap((member) => ('first' in member ? `${inHex(member.first)}-${inHex(member.last)}` : []));
  const [ignoresCase, isAscii] = [flags.includes('i'), flags.includes('a')];
  const isInCategory = anyOf(categories, 'v');
  const isInRange = anyOf(ranges, ignoresCase && !isAscii ? 'iv' : 'v');
  const otherCase = isAscii ? asciiLetters : unicodeLetters;
  const sameLetters = ignoresCase ? otherCase : (codePoint: number) => [codePoint];
  const isMember = (codePoint: number) => isInCategory(codePoint) || sameLetters(codePoint).some(isInRange);
  return memoize((codePoint) => isMember(codePoint) !== isNegated, { maxEntries: 10_000 });
}

const inHex = (codePoint: number) => `\\u{${codePoint.toString(16)}}`;

function anyOf(members: readonly string[], flags: string): CharacterSet {
  const pattern = new RegExp(`^[${members.join('')}]$`, flags);
  return (codePoint) => pattern.test(String.fromCodePoint(codePoint));
}

const asciiLetters = (codePoint: number) =>
  /[A-Za-z]/.test(String.fromCodePoint(codePoint)) ? [codePoint, codePoint ^ 0x20] : [codePoint];

/** I, i, İ and ı are one letter in Python. */
const LETTERS_I = [0x49, 0x69, 0x130, 0x131];
const unicodeLetters = (codePoint: number) => (LETTERS_I.includes(codePoint) ? LETTERS_I : [codePoint]);

/** A condition between two characters, with the flag that changes its meaning. */
export type Assertion = '\\A' | '\\Z' | '^' | '^m' | '$' | '$m' | '\\b' | '\\ba' | '\\B' | '\\Ba';

const FLAG_OF: Readonly<Record<string, string>> = { '\\A': '', '\\Z': '', '^': 'm', $: 'm', '\\b': 'a', '\\B': 'a' };

/**
 * A step of Thompson's machine, which can be in many places at once. After a set or an assertion it continues with the next
 * step; `jumps` are relative. The end of the program is a match.
 */
type Instruction = { readonly set?: CharacterSet; readonly assertion?: Assertion; readonly jumps?: readonly number[] };

/** Captures and greediness do not change a yes or no, and are left out. */
type Part = { readonly program: readonly Instruction[]; readonly is?: 'assertion' | 'repetition' };

type Group = { readonly at: number; flags: Flags; readonly options: Part[][] };

const MAX_LENGTH = 10_000;
/** Repetitions are written out: a short pattern can become a long program. */
const MAX_INSTRUCTIONS = 4_000;

const CLASS = '\\[(?:\\^|(?!\\^))(?:\\\\[^]|[^\\\\])(?:\\\\[^]|[^\\]\\\\])*\\]';
const QUANTIFIER = '(?:[*+?]|\\{(?:\\d+(?:,\\d*)?|,\\d*)\\})[?+]?';
const OPENING = '\\(\\?(?:P<[^>)]*>|P=|<[=!]|[=!(>#]|[a-zA-Z]*(?:-[a-zA-Z]*)?[:)]|[^]?)';
const TOKEN = new RegExp(`${CLASS}|${ESCAPE}|${QUANTIFIER}|${OPENING}|[^]`, 'gu');

const REFUSED_GROUPS: Readonly<Record<string, string>> = {
  '(?=': 'a lookahead',
  '(?!': 'a negative lookahead',
  '(?<=': 'a lookbehind',
  '(?<!': 'a negative lookbehind',
  '(?P=': 'a backreference',
  '(?(': 'a conditional group',
  '(?>': 'an atomic group',
  '(?#': 'a comment',
};

/** Python's syntax, without what cannot be matched in one pass over the text. */
export function compilePattern(pattern: string): readonly Instruction[] {
  if (pattern.length > MAX_LENGTH) throw new PatternError(`it is longer than ${MAX_LENGTH}`, { isRefused: true });
  return new Compiler(pattern).run();
}

class Compiler {
  readonly #pattern: string;
  readonly #names = new Set<string>();
  readonly #groups: Group[] = [{ at: 0, flags: '', options: [[]] }];

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  run(): readonly Instruction[] {
    for (const { 0: token, index } of this.#pattern.matchAll(TOKEN)) this.#read(token, index);
    const { at, options } = this.#group;
    if (this.#groups.length > 1) throw broken(`the group is not closed: ${this.#pattern.slice(at, at + 40)}`);
    return choiceOf(options);
  }

  get #group(): Group {
    return this.#groups.at(-1)!;
  }

  #read(token: string, at: number): void {
    const { flags, options } = this.#group;
    const parts = options.at(-1)!;
    if (token === '[') throw broken(`the class is not closed: ${this.#pattern.slice(at, at + 40)}`);
    if (token === '\\') throw broken('it ends in the middle of an escape: \\');
    if (token === '|') options.push([]);
    else if (token === ')') this.#close(at);
    else if (/^\(\?[a-zA-Z]+\)$/.test(token)) this.#setFlags(token, at);
    else if (token.startsWith('(')) this.#open(token, at);
    else if (FLAG_OF[token] !== undefined) parts.push(assertionOf(token, flags));
    else if (/^(?:[*+?]|\{.)/.test(token)) parts.push(repetitionOf(parts.pop(), token));
    else parts.push({ program: [{ set: tokenSet(token, flags) }] });
  }

  #setFlags(token: string, at: number): void {
    const isFirst = /^(?:\(\?[a-zA-Z]+\))*$/.test(this.#pattern.slice(0, at));
    if (!isFirst) throw broken(`the flags ${token} must stand at the beginning`);
    this.#group.flags = withFlags('', this.#group.flags + token.slice(2, -1));
  }

  #open(token: string, at: number): void {
    const what = REFUSED_GROUPS[token];
    if (what !== undefined) throw refused(token, what);
    const [, name, letters] = /^\(\?(?:P<(.*)>|([a-zA-Z-]*):)$/s.exec(token) ?? [];
    if (name !== undefined) this.#takeName(name);
    else if (letters === undefined && token !== '(') throw broken(`${token} begins no group`);
    const { flags } = this.#group;
    this.#groups.push({ at, flags: letters ? withFlags(flags, letters) : flags, options: [[]] });
  }

  #takeName(name: string): void {
    if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) throw broken(`(?P<${name}> has no proper name`);
    if (this.#names.has(name)) throw broken(`two groups are called ${name}`);
    this.#names.add(name);
  }

  #close(at: number): void {
    const { options } = this.#groups.pop()!;
    if (this.#groups.length > 0) this.#group.options.at(-1)!.push({ program: choiceOf(options) });
    else throw broken(`")" at character ${Array.from(this.#pattern.slice(0, at)).length + 1} closes no group`);
  }
}

function assertionOf(token: string, flags: Flags): Part {
  const flag = flags.includes(FLAG_OF[token]!) ? FLAG_OF[token] : '';
  return { program: [{ assertion: `${token}${flag}` as Assertion }], is: 'assertion' };
}

function tokenSet(token: string, flags: Flags): CharacterSet {
  if (token === '.') return flags.includes('s') ? anything : anythingInLine;
  return token.startsWith('[') ? classSet(token, flags) : characterSet(token, flags);
}

const anything: CharacterSet = () => true;
const anythingInLine: CharacterSet = (codePoint) => codePoint !== 10;

/** The flags inside a group such as `(?i-s:…)`. `a` and `u` exclude each other. */
function withFlags(flags: Flags, letters: string): Flags {
  const unknown = /[^aimsu-]/.exec(letters)?.[0];
  if (unknown !== undefined) throw refused(`(?${unknown}`, 'a flag other than a, i, m, s and u');
  const [on, off] = letters.split('-') as [string, string?];
  const isTwice = Array.from(off ?? '').some((letter) => `${on}au`.includes(letter));
  if (off === '' || isTwice || (on.includes('a') && on.includes('u')))
    throw broken(`(?${letters} are flags that do not go together`);
  const ended = `${off ?? ''}${/[au]/.test(on) ? 'au' : ''}`;
  return on + Array.from(flags, (letter) => (ended.includes(letter) ? '' : letter)).join('');
}

function choiceOf(options: readonly (readonly Part[])[]): readonly Instruction[] {
  const programs = options.map((parts) => parts.flatMap(({ program }) => program));
  const starts: number[] = [];
  let end = 1;
  for (const { length } of programs) {
    starts.push(end);
    end += length + 1;
  }
  requireSize(end);
  if (programs.length === 1) return programs[0]!;
  const written = programs.flatMap((program, at) => [...program, { jumps: [end - starts[at]! - program.length] }]);
  return [{ jumps: starts }, ...written];
}

function repetitionOf(part: Part | undefined, quantifier: string): Part {
  if (!part || part.is === 'assertion') throw broken(`there is nothing that "${quantifier}" could repeat`);
  if (part.is === 'repetition') throw broken(`${quantifier} repeats a repetition`);
  if (/.\+$/.test(quantifier)) throw refused(quantifier, 'a possessive quantifier');
  return { program: repeat(part.program, boundsOf(quantifier)), is: 'repetition' };
}

type Bounds = { readonly min: number; readonly max: number };

function repeat(program: readonly Instruction[], { min, max }: Bounds): readonly Instruction[] {
  const more = max === Infinity ? 1 : max - min;
  const size = program.length + 1;
  requireSize(min * Math.max(1, program.length) + more * size);
  const needed = Array.from({ length: min }, () => program).flat();
  const again = { jumps: [-program.length, 1] };
  if (max === Infinity) return min > 0 ? [...needed, again] : [{ jumps: [1, size + 1] }, ...program, again];
  const optional = Array.from({ length: more }, (_, at) => [{ jumps: [1, (more - at) * size] }, ...program]);
  return [...needed, ...optional.flat()];
}

function boundsOf(quantifier: string): Bounds {
  if (/^[*+]/.test(quantifier)) return { min: quantifier.startsWith('+') ? 1 : 0, max: Infinity };
  if (quantifier.startsWith('?')) return { min: 0, max: 1 };
  const [, low, comma, high] = /^\{(\d*)(,?)(\d*)/.exec(quantifier)!;
  const [min, max] = [Number(low), Number(comma ? high || Infinity : low)];
  if (max < min) throw broken(`${quantifier} has more at least than at most`);
  return { min, max };
}

function requireSize(instructions: number): void {
  if (instructions <= MAX_INSTRUCTIONS) return;
  const why = `its repetitions, written out, are more than ${MAX_INSTRUCTIONS} steps: use smaller numbers in {…}`;
  throw new PatternError(why, { isRefused: true });
}
