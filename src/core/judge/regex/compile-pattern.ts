import {
  broken,
  type CharacterSet,
  characterSet,
  classSet,
  ESCAPE,
  type Flags,
  PatternError,
  refused,
} from './character-set.ts';

/** A condition between two characters, with the flag that changes its meaning. */
export type Assertion = '\\A' | '\\Z' | '^' | '^m' | '$' | '$m' | '\\b' | '\\ba' | '\\B' | '\\Ba';

const FLAG_OF: Readonly<Record<string, string>> = { '\\A': '', '\\Z': '', '^': 'm', $: 'm', '\\b': 'a', '\\B': 'a' };

/**
 * A step of Thompson's machine, which can be in many places at once. After a set or an assertion it continues with the next
 * step; `jumps` are relative. The end of the program is a match.
 */
export type Instruction = {
  readonly set?: CharacterSet;
  readonly assertion?: Assertion;
  readonly jumps?: readonly number[];
};

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
    else parts.push({ program: [{ set: setOf(token, flags) }] });
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
  const flag = FLAG_OF[token]!;
  const assertion = `${token}${flags.includes(flag) ? flag : ''}` as Assertion;
  return { program: [{ assertion }], is: 'assertion' };
}

function setOf(token: string, flags: Flags): CharacterSet {
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
  if (off === '' || isTwice || /a.*u|u.*a/.test(on)) throw broken(`(?${letters} are flags that do not go together`);
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
  const message = `its repetitions, written out, are more than ${MAX_INSTRUCTIONS} steps: use smaller numbers in {…}`;
  throw new PatternError(message, { isRefused: true });
}
