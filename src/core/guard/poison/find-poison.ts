import { applyPatch, type Edit, findNewHidden, MARKERS } from '../../document/index.ts';
import { HARMS, type Harm, type PoisonKind, RENDERED_HARMS } from './harms.ts';
import { findSaid, joinedOf, MOST_CHARACTERS, plainOf, sentencesOf } from './sentences.ts';

export type Poison = { readonly kind: PoisonKind; readonly reason: string };

/**
 * Why a text from transcripts may not become a part of a skill or a memory. With `before` it is a whole document: what that
 * said already does not count.
 */
export function findPoison(text: string, { before = '' }: { readonly before?: string } = {}): Poison | undefined {
  const changed = changedIn(before, text);
  let known: ReadonlySet<string> | undefined; // read when something is found: mostly nothing is
  for (const { key, kind, reason } of poisonIn(changed.after, changed.before)) {
    known ??= new Set(Array.from(poisonIn(changed.before), (old) => old.key));
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

function* poisonIn(text: string, before = ''): Generator<Finding> {
  if (text.length > MOST_CHARACTERS) yield found('too_long', `has more than ${MOST_CHARACTERS} characters`, '');
  const start = text.slice(0, MOST_CHARACTERS);
  if (OWN_MARKER.test(start)) yield found('marker', 'holds a marker of a block that skillopt owns', '');
  const hidden = findNewHidden(before, start);
  if (hidden) yield found(hidden.kind, `hides ${hidden.text.slice(0, 60)}`, hidden.text);
  const disguise = findDisguise(start);
  if (disguise !== undefined) yield found('disguise', 'is spelled with letters that look like others', disguise);
  const plain = plainOf(start);
  yield* harmsIn(plain, HARMS);
  yield* harmsIn(plain.replace(CODE, ' '), RENDERED_HARMS);
  const joined = joinedOf(plain);
  if (joined !== plain) yield* harmsIn(joined, HARMS);
}

const CODE = /(?<=^|\n) {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n[\s\S]*?(?:\n {0,3}\1|$)|`[^`\n]{1,400}`/g;

const found = (kind: PoisonKind, reason: string, text: string): Finding => ({
  kind,
  reason,
  key: `${reason}\0${text}`,
});

function* harmsIn(text: string, harms: readonly Harm[]): Generator<Finding> {
  const possible = harms.filter(({ all }) => all.every((part) => part.test(text))); // mostly none, and that is quick
  if (possible.length === 0) return;
  for (const sentence of sentencesOf(text)) {
    for (const harm of possible) {
      const said = findSaid(harm, sentence);
      if (said !== undefined) yield found(harm.kind, harm.reason, said);
    }
  }
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

const CYRILLIC = 'аеорсухіјѕԁһԛԝвкмнтзгпьлАВЕКМНОРСТУХІЈЅ';
const GREEK = 'αεικνορτυχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ';
const DISGUISED = new RegExp(`^[${CYRILLIC}${GREEK}]+$`, 'u');
const WORD = /[\p{L}\p{M}\d]+/gu;

/** Letters that look like Latin ones: mathematical, in circles or squares. Fewer than five may be a formula. */
const DRAWN = /(?:[\u{1d400}-\u{1d7cb}\u24b6-\u24e9\u{1f130}-\u{1f189}\ua730-\ua7ff\u1d00-\u1d2b][ -]?){5,}/u;
const WIDE = /(?:[\uff21-\uff3a\uff41-\uff5a]\u3000?){5,}/u;
const SPACED = /(?<![\p{L}\d])\p{L}(?:([ ._*-])\p{L}(?=\1|$|\s|[.,;:!?])[ ]{0,3}){7,}/u;

/** The first passage that is spelled with letters that look like others. */
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
