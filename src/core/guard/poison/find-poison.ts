import { applyPatch, type Edit, findNewHidden, MARKERS } from '../../document/index.ts';
import { applies, ITEMS, type PoisonKind, type Rule, SENTENCES } from './rule.ts';
import { COMMAND_RULES, findMisspelled, GIT_RULES, PACKAGE_RULES } from './rules/commands.ts';
import { FILE_RULES, findFalseLink, MARKUP_RULES, SECRET_RULES } from './rules/files.ts';
import { CHECK_RULES, GUARD_RULES, ORDER_RULES } from './rules/orders.ts';
import { SUBJECT_RULES } from './rules/subjects.ts';

export type Poison = { readonly kind: PoisonKind; readonly reason: string };

const RULES: readonly Rule[] = [
  ...MARKUP_RULES,
  ...COMMAND_RULES,
  ...SECRET_RULES,
  ...ORDER_RULES,
  ...CHECK_RULES,
  ...GUARD_RULES,
  ...FILE_RULES,
  ...GIT_RULES,
  ...PACKAGE_RULES,
  ...SUBJECT_RULES,
];

/** A longer text is not read, and so not trusted. */
const MOST_CHARACTERS = 30_000;

/**
 * Why a text from transcripts may not become a part of a skill or a memory. With `before` it is a whole document: what that
 * said already does not count, and items of a list are read as separate rules.
 */
export function findPoison(text: string, { before }: { readonly before?: string } = {}): Poison | undefined {
  if (before === undefined) {
    const [first] = poisonIn(text, SENTENCES);
    return first && { kind: first.kind, reason: first.reason };
  }
  const changed = changedIn(before, text);
  let known: ReadonlySet<string> | undefined; // read when something is found: mostly nothing is
  for (const { key, kind, reason } of poisonIn(changed.after, ITEMS, changed.before)) {
    known ??= new Set(Array.from(poisonIn(changed.before, ITEMS), (old) => old.key));
    if (!known.has(key)) return { kind, reason };
  }
  return undefined;
}

/** Both texts without the beginning and the end that they share, but for as much as a passage may need. */
function changedIn(before: string, after: string): { readonly before: string; readonly after: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const [from, rest] = [Math.max(0, start - MARGIN), Math.max(0, end - MARGIN)];
  return { before: before.slice(from, before.length - rest), after: after.slice(from, after.length - rest) };
}
const MARGIN = 1_000;

const OWN_MARKER = new RegExp(
  Object.values(MARKERS)
    .flatMap(({ start, end }) => [start, end].map((marker) => marker.replace(/[^A-Z_]/g, '')))
    .join('|'),
  'i',
);

type Finding = Poison & { readonly key: string };

function* poisonIn(text: string, breaks: RegExp, before = ''): Generator<Finding> {
  if (text.length > MOST_CHARACTERS) yield found('too_long', `has more than ${MOST_CHARACTERS} characters`, '');
  const start = text.slice(0, MOST_CHARACTERS);
  if (OWN_MARKER.test(start)) yield found('marker', 'holds a marker of a block that skillopt owns', '');
  const hidden = findNewHidden(before, start);
  if (hidden) yield found(hidden.kind, `hides ${hidden.text.slice(0, 60)}`, hidden.text);
  const disguise = findDisguise(start);
  if (disguise !== undefined) yield found('disguise', 'is spelled with letters that look like others', disguise);
  for (const view of viewsOf(start)) yield* findIn(view, breaks);
}

const found = (kind: PoisonKind, reason: string, text: string): Finding => ({
  kind,
  reason,
  key: `${reason}\0${text}`,
});

function* findIn({ text, isDecoded }: View, breaks: RegExp): Generator<Finding> {
  const note = isDecoded ? ' (decoded)' : '';
  const prose = withoutCode(text);
  for (const rule of RULES) {
    if (isDecoded && (rule.isRendered || SUBJECT_RULES.includes(rule))) continue; // subjects are too wide for a cipher
    const read = rule.isRendered ? prose : text;
    if (read.search(rule.find) === -1) continue; // as most do, and copying the pattern for all matches takes longer
    for (const match of read.matchAll(rule.find)) {
      if (!applies(rule, text, match, breaks)) continue;
      yield { ...found(rule.kind, rule.reason, match[0]), reason: `${rule.reason}${note}` };
    }
  }
  const misspelled = findMisspelled(text);
  if (misspelled)
    yield found('dependency', 'installs a package that is named nearly like a well-known one', misspelled);
  const link = findFalseLink(text);
  if (link !== undefined) yield found('markup', 'shows another address than it leads to', link);
}

type Quarantined = Poison & { readonly edit: Edit };

/**
 * The edits that may be staged, and those that may not. Each is read alone, then all together, since a payload may be spread
 * over several: then every edit that it needs is refused.
 */
export function quarantine(edits: readonly Edit[], document: string): { kept: Edit[]; quarantined: Quarantined[] } {
  const quarantined: Quarantined[] = [];
  let kept = edits.filter((edit) => {
    const poison = edit.op === 'delete' ? undefined : findPoison(edit.content);
    if (poison) quarantined.push({ edit, ...poison });
    return poison === undefined;
  });
  for (let poison = findTogether(kept, document); poison; poison = findTogether(kept, document)) {
    const parts = new Set(partsOfPoison(kept, document));
    const reason = `together with other edits: ${poison.reason}`;
    for (const edit of parts) quarantined.push({ edit, kind: poison.kind, reason });
    kept = kept.filter((edit) => !parts.has(edit));
  }
  return { kept, quarantined };
}

/** The fewest edits that are still poison together: halves are left out, then quarters, down to single ones. */
function partsOfPoison(edits: readonly Edit[], document: string): readonly Edit[] {
  let parts = edits;
  for (let size = Math.ceil(parts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < parts.length; ) {
      const rest = [...parts.slice(0, at), ...parts.slice(at + size)];
      if (rest.length > 0 && findTogether(rest, document)) parts = rest;
      else at += size;
    }
  }
  return parts;
}

/** Reads the edits one after the other, and in their places in the document. */
function findTogether(edits: readonly Edit[], document: string): Poison | undefined {
  const contents = edits.flatMap(({ op, content }) => (op === 'delete' ? [] : [content]));
  return (
    findPoison(contents.join('\n\n'), { before: '' }) ??
    findPoison(applyPatch(document, { edits }), { before: document })
  );
}

// Ways to write a text so that a filter does not read it. Each function returns a text unchanged if there is nothing to decode.

const toTable = (pairs: string) => new Map(pairs.split(' ').map((pair) => [pair.slice(0, -1), pair.slice(-1)]));

const ENTITIES = new Map<string, string>([
  ...toTable(`lt< gt> amp& quot" apos' sol/ colon: lpar( rpar) excl! vert| grave\` dollar$ period.`),
  ['nbsp', ' '],
  ['tab', ' '],
  ['newline', '\n'],
]);

const fromEntities = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));?/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES.get(name) ?? whole;
    return toCharacter(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10));
  });

/** `\x41`, `\u0041`, `\101`, `%41`. */
const fromEscapes = (text: string): string =>
  text.replace(/(?:\\x|%)([\da-f]{2})|\\u\{?([\da-f]{4,6})\}?|\\([0-3][0-7]{2})/g, (_, byte, unit, octal) =>
    toCharacter(Number.parseInt(byte ?? unit ?? octal, octal === undefined ? 16 : 8)),
  );

const toCharacter = (code: number) => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toLowerCase() : ' ');

/** The texts in base64, in rows of bytes and in rows of numbers. */
function decodeBlobs(text: string): string[] {
  const base64 = [...text.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)].map(([blob]) => fromBase64(blob));
  const bytes = [...text.matchAll(/(?:(?:0x|\\x)?[\da-fA-F]{2}[ ,:]{0,2}){8,}/g)].map(([blob]) => fromHex(blob));
  const numbers = [...text.matchAll(/(?:\d{2,3}[ ,]{1,2}){7,}\d{2,3}/g)].map(([row]) =>
    row.split(/[ ,]+/).map(Number).map(toCharacter).join(''),
  );
  const texts = [...base64, ...bytes, ...numbers].filter(isText);
  return texts.length === 0 ? [] : [texts.join('\n')];
}

const isText = (text: string) => text.length >= 6 && /^[\t\n\r\x20-\x7e]+$/.test(text) && /[a-z]{2}/i.test(text);

function fromBase64(blob: string): string {
  const digits = blob
    .replace(/(?<!=)=+$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  return digits.length % 4 === 1 ? atob(digits.slice(0, -1)) : atob(digits);
}

function fromHex(blob: string): string {
  const digits = blob.replace(/0x|\\x|[ ,:]/g, '');
  return (digits.match(/../g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16))).join('');
}

const rot13 = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));

const LEET = toTable('0o 1i 3e 4a 5s 7t 8b $s @a !i');

/** Only inside words that have letters too: numbers stay numbers. */
const unleet = (text: string) =>
  text.replace(/[a-z0-9$@!]{3,40}/g, (word) =>
    /[a-z]/.test(word) && /[0134578$@!]/.test(word) ? word.replace(/[0134578$@!]/g, (sign) => LEET.get(sign)!) : word,
  );

/** Letters with a sign between each two of them: «i g n o r e», «c.u.r.l». */
const unspaced = (text: string) =>
  text.replace(/(?<![\p{L}\d])\S(?:[ ._*-]{1,3}\S(?=[ ._*-]|$|\n)){4,}/gu, (row) =>
    row
      .replace(/ {2,3}/g, '\0')
      .replace(/(?<=\S)[ ._*-](?=\S)/g, '')
      .replaceAll('\0', ' '),
  );

/** The text as somebody may read it. `isDecoded`: it was written so that it has to be decoded. */
type View = { readonly text: string; readonly isDecoded: boolean };

/** The text in small letters without disguise, then what it becomes by decoding. Each differs from all before. */
function viewsOf(text: string): View[] {
  const plain = plainOf(text);
  const seen = new Set([plain]);
  const latin = plain.replace(/[^\n\x20-\x7e]+/g, ' '); // two of the ciphers are of Latin letters, and cost time
  const decoded = [
    fromEntities(plain),
    fromEscapes(plain),
    ...decodeBlobs(text).map(plainOf),
    plainOf(unspaced(text)),
    unleet(plain),
    rot13(latin),
    latin.split('').reverse().join(''),
    unslugged(plain),
    joined(plain),
  ].filter((view) => view.trim() !== '' && !seen.has(view) && seen.add(view));
  return [{ text: plain, isDecoded: false }, ...decoded.map((view) => ({ text: view, isDecoded: true }))];
}

/** One spelling for quotes, dashes and spaces, no emphasis, and no line broken by a backslash. */
export const plainOf = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/[\u2018\u2019\u02bc\u2032]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\u2010-\u2012]/g, '-')
    .replace(/\r\n?/g, '\n')
    .replace(/\\\n/g, ' ')
    .replace(/\*\*|__(?=\s|$)|(?<=^|\s)__|~~/g, '')
    .replace(/[^\S\n]+/g, ' ')
    .toLowerCase();

/** A name of several words is read as a sentence: `ignore-all-rules.md`. */
const unslugged = (text: string) =>
  text.replace(/[a-z]{2,30}(?:[-_][a-z]{1,30}){2,20}/g, (name) => name.replace(/[-_]/g, ' '));

/** Joins words that were cut by quotes or a plus, and sentences that continue in the next item. */
const joined = (text: string): string =>
  text
    .replace(/["'`] ?\+ ?["'`]/g, '')
    .replace(/(?<=\w)(?:""|''|\\)(?=\w)/g, '')
    .replace(/(?<![.!?:;)`"\n])\n{1,2}[ \t]{0,20}(?:(?:[-*+>]|\d{1,3}[.)]) )?/g, ' ');

const CODE = /(?<=^|\n) {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:\n {0,3}\1|$)|`[^`\n]{1,400}`/g;

/** Blanks in place of code, so that the rest keeps its place. */
const withoutCode = (text: string) => text.replace(CODE, (code) => ' '.repeat(code.length));

const CYRILLIC = 'аеорсухіјѕԁһԛԝвкмнтзгпьлАВЕКМНОРСТУХІЈЅ';
const GREEK = 'αεικνορτυχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const DISGUISED = new RegExp(`^[${CYRILLIC}${GREEK}]+$`, 'u');
const WORD = /[\p{L}\p{M}\d]+/gu;

/** Letters that look like Latin ones: mathematical, in circles or squares. Fewer than five may be a formula. */
const DRAWN = /(?:[\u{1d400}-\u{1d7cb}\u24b6-\u24e9\u{1f130}-\u{1f189}\ua730-\ua7ff\u1d00-\u1d2b][ -]?){5,}/u;
const WIDE = /(?:[\uff21-\uff3a\uff41-\uff5a]\u3000?){5,}/u;
const SPACED = /(?<![\p{L}\d])\p{L}(?:([ ._*-])\p{L}(?=\1|$|\s|[.,;:!?])[ ]{0,3}){7,}/u;

function findDisguise(text: string): string | undefined {
  const drawn = DRAWN.exec(text) ?? WIDE.exec(text) ?? SPACED.exec(text);
  return drawn?.[0] ?? findMixedWord(text);
}

/** The first word of two scripts that look alike, or wholly of such letters among Latin words. */
function findMixedWord(text: string): string | undefined {
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(text)) return undefined;
  const words = text.match(WORD) ?? [];
  const isForeign = words.some((word) => isForeignWord(word) && !DISGUISED.test(word));
  return words.find((word) => isMixed(word) || (!isForeign && word.length > 1 && DISGUISED.test(word)));
}

const hasLatin = (word: string) => /\p{Script=Latin}/u.test(word);
const isForeignWord = (word: string) => /[\p{Script=Cyrillic}\p{Script=Greek}]{2}/u.test(word) && !hasLatin(word);

/** «Δt» and «µs» are units: one Greek letter at the beginning of a short word. */
function isMixed(word: string): boolean {
  if (!hasLatin(word)) return false;
  if (/[\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Cherokee}]/u.test(word)) return true;
  return /\p{Script=Greek}/u.test(word) && !/^[\p{Script=Greek}µ]\p{Script=Latin}{1,3}\d*$/u.test(word);
}
