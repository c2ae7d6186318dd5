import { findNewHidden } from '../hidden-text.ts';
import { MARKERS } from '../protected-regions.ts';
import { isForbidden } from './forbidden.ts';
import { findDisguise } from './look-alike-letters.ts';
import type { PoisonKind, Rule } from './rule.ts';
import { CHECK_RULES } from './rules/checks.ts';
import { COMMAND_RULES } from './rules/commands.ts';
import { FILE_RULES } from './rules/files.ts';
import { GIT_RULES } from './rules/git.ts';
import { GUARD_RULES } from './rules/guards.ts';
import { findFalseLink, MARKUP_RULES } from './rules/markup.ts';
import { ORDER_RULES } from './rules/orders.ts';
import { findMisspelled, PACKAGE_RULES } from './rules/packages.ts';
import { SECRET_RULES } from './rules/secrets.ts';
import { SUBJECT_RULES } from './rules/subjects.ts';
import { type View, viewsOf, withoutCode } from './views.ts';

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

/** More than a learned text ever has. What is longer is not read, and so not trusted. */
export const MOST_CHARACTERS = 30_000;

/**
 * Why a text that came out of transcripts may not become a part of a skill or a memory; nothing if it may. With `before` it is
 * a whole document: what that said already is not counted, and items of a list are read as rules of their own.
 */
export function findPoison(text: string, { before }: { readonly before?: string } = {}): Poison | undefined {
  if (before === undefined) {
    const [first] = poisonIn(text, SENTENCES);
    return first && { kind: first.kind, reason: first.reason };
  }
  const changed = changedIn(before, text);
  const known = new Set(Array.from(poisonIn(changed.before, ITEMS), ({ key }) => key));
  for (const { key, kind, reason } of poisonIn(changed.after, ITEMS, changed.before)) {
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

/** By their names alone, however the comment round them is written. */
const OWN_MARKER = new RegExp(
  Object.values(MARKERS)
    .flatMap(({ start, end }) => [start, end].map((marker) => marker.replace(/[^A-Z_]/g, '')))
    .join('|'),
  'i',
);

type Found = Poison & { readonly key: string };

function* poisonIn(text: string, breaks: RegExp, before = ''): Generator<Found> {
  if (text.length > MOST_CHARACTERS) yield found('too_long', `has more than ${MOST_CHARACTERS} characters`, '');
  const start = text.slice(0, MOST_CHARACTERS);
  if (OWN_MARKER.test(start)) yield found('marker', 'holds a marker of a block that skillopt owns', '');
  const hidden = findNewHidden(before, start);
  if (hidden) yield found(hidden.kind, `hides ${hidden.text.slice(0, 60)}`, hidden.text);
  const disguise = findDisguise(start);
  if (disguise !== undefined) yield found('disguise', 'is spelled with letters that look like others', disguise);
  for (const view of viewsOf(start)) yield* findIn(view, breaks);
}

const found = (kind: PoisonKind, reason: string, text: string): Found => ({ kind, reason, key: keyOf(reason, text) });
const keyOf = (reason: string, text: string) => `${reason}\0${text}`;

function* findIn({ text, isDecoded }: View, breaks: RegExp): Generator<Found> {
  const note = isDecoded ? ' (decoded)' : '';
  const prose = withoutCode(text);
  for (const rule of RULES) {
    if (rule.isRendered && isDecoded) continue;
    const read = rule.isRendered ? prose : text;
    if (read.search(rule.find) === -1) continue; // as most do, and copying the pattern for all matches takes longer
    for (const match of read.matchAll(rule.find)) {
      const passage = passageAround(text, match, breaks);
      if (isFound(rule, text, match, passage))
        yield { kind: rule.kind, reason: `${rule.reason}${note}`, key: keyOf(rule.reason, match[0]) };
    }
  }
  const misspelled = findMisspelled(text);
  if (misspelled)
    yield found('dependency', 'installs a package that is named nearly like a well-known one', misspelled);
  const link = findFalseLink(text);
  if (link !== undefined) yield found('markup', 'shows another address than it leads to', link);
}

function isFound(
  { also = [], unless, isForbidding }: Rule,
  text: string,
  match: RegExpExecArray,
  passage: string,
): boolean {
  if (!also.every((pattern) => pattern.test(passage)) || unless?.test(passage)) return false;
  return isForbidding === true || !isForbidden(text, match.index, match.index + match[0].length);
}

const REACH = 300;
const SENTENCES = /\n\s*\n|(?<=[.!?。！？])\s+(?=\S)/u;
const ITEMS = /\n\s*\n|\n(?=[ \t]*(?:[-*+#]|\d{1,3}[.)]) )|(?<=[.!?。！？])[^\S\n]+(?=\S)/u;

/** The sentence of a match with the one before and the one after it, as far as the same item goes. */
function passageAround(text: string, { index, 0: match }: RegExpExecArray, breaks: RegExp): string {
  const reach = breaks === ITEMS ? 1 : 2;
  const before = text
    .slice(Math.max(0, index - REACH), index)
    .split(breaks)
    .slice(-reach);
  const after = text
    .slice(index + match.length, index + match.length + REACH)
    .split(breaks)
    .slice(0, reach);
  return `${before.join(' ')}${match.slice(0, REACH)}${after.join(' ')}`;
}
