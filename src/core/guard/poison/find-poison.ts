import { applyPatch, type Edit, findNewHidden, MARKERS } from '../../document/index.ts';
import { findDisguise, type View, viewsOf, withoutCode } from './readings.ts';
import type { PoisonKind, Rule } from './rule.ts';
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
    if (rule.isRendered && isDecoded) continue;
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

function applies({ also = [], unless, isForbidding }: Rule, text: string, match: RegExpExecArray, breaks: RegExp) {
  const passage = passageAround(text, match, breaks);
  if (!also.every((pattern) => pattern.test(passage)) || unless?.test(passage)) return false;
  return isForbidding === true || !isForbidden(text, match.index, match.index + match[0].length);
}

const REACH = 300;
const SENTENCES = /\n\s*\n|(?<=[.!?。！？])\s+(?=\S)/u;
const ITEMS = /\n\s*\n|\n(?=[ \t]*(?:[-*+#]|\d{1,3}[.)]) )|(?<=[.!?。！？])[^\S\n]+(?=\S)/u;

/** The sentence of a match with its neighbours, within the same item. */
function passageAround(text: string, { index, 0: match }: RegExpExecArray, breaks: RegExp): string {
  const count = breaks === ITEMS ? 1 : 2;
  const end = index + match.length;
  const before = text.slice(Math.max(0, index - REACH), index).split(breaks);
  const after = text.slice(end, end + REACH).split(breaks);
  return `${before.slice(-count).join(' ')}${match.slice(0, REACH)}${after.slice(0, count).join(' ')}`;
}

/** Words that forbid, in the languages of the rules. */
const NOT =
  /\b(?:never|do not|don't|dont|must not|mustn't|should not|shouldn't|may not|cannot|can't|won't|avoid|refuse|reject|forbid|forbidden|prohibit\w*|instead of|rather than|no|not|nobody|warn|beware|flag|without first|nie|niemals|nicht|kein\w*|jamais|ne|évite[rz]?|nunca|jamás|evita|evite|não|nao)\b|не |никогда|нельзя|不要|不得|禁止|切勿|请勿|避免|لا |asla|절대/gu;
/** What follows a «not» that forbids nothing: «do not ask», «do not hesitate to run», «not only». */
const NO_NOT =
  /^\W{0,2}(?:to )?(?:ask|wait|hesitate|forget|fail|mention|tell|bother|worry|need|stop|confirm|report|show|log|question|explain|only|matter|inform|say|notify|refuse|warn|prompt|pause|think|let)\b/u;
const ENDS =
  /[.!?;。！？\n](?=\s|$|[\p{Script=Han}])|\n|,? (?:but|just|then|simply|instead,|and then|afterwards|however) /gu;
const FORBIDS_AFTER =
  /^[^.\n]{0,60}\b(?:(?:is|are) (?:never|not|forbidden|banned|prohibited|refused)|must (?:not|never)|not allowed|(?:do|does) not)\b/u;

function isForbidden(text: string, from: number, to: number): boolean {
  const before = text.slice(Math.max(0, from - 200), from);
  const ends = [...before.matchAll(ENDS)].map(({ index, 0: sign }) => index + sign.length);
  const clause = before.slice(Math.max(0, ...ends));
  const hasNot = [...clause.matchAll(NOT)].some(
    ({ index, 0: word }) => !NO_NOT.test(clause.slice(index + word.length)),
  );
  return hasNot || FORBIDS_AFTER.test(text.slice(to, to + 120));
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
