import { isMarker } from './protected-regions.ts';

/** What a reader of the document does not see: a comment in HTML, or a character without a shape of its own. */
export type HiddenText = { readonly kind: 'html_comment' | 'hidden_character'; readonly text: string };

/** The first thing that `after` hides and `before` does not, or not as often. Markers of blocks are not counted. */
export function findNewHidden(before: string, after: string): HiddenText | undefined {
  const comment = firstNew(findComments(before), findComments(after));
  if (comment !== undefined) return { kind: 'html_comment', text: comment };
  const character = firstNew(findShapeless(before), findShapeless(after));
  return character === undefined ? undefined : { kind: 'hidden_character', text: nameOf(character) };
}

/** The first that is there more often than before. */
function firstNew(before: Iterable<string>, after: Iterable<string>): string | undefined {
  const known = new Map<string, number>();
  for (const text of before) known.set(text, (known.get(text) ?? 0) + 1);
  for (const text of after) {
    const left = known.get(text) ?? 0;
    if (left === 0) return text;
    known.set(text, left - 1);
  }
  return undefined;
}

/** The flags of England, Scotland and Wales are spelled with tags, and no others. */
const TAGGED_FLAG =
  /\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

function* findShapeless(document: string): Generator<string> {
  const text = document.replace(TAGGED_FLAG, '\u{1f3f4}');
  const pattern = new RegExp(SHAPELESS);
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    if (!isOrdinary(text, found.index, found[0])) yield found[0];
  }
}

const nameOf = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/**
 * Control characters but for tabs and line ends, halves of characters, and whatever has no shape by Unicode's own list:
 * zero-width and bidirectional characters, tags, fillers, selectors, soft hyphens.
 */
const SHAPELESS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]|\r(?!\n)|\p{Surrogate}|\p{Default_Ignorable_Code_Point}/gu;

/** One selector after an emoji, a joiner between two of them, or one between letters that are spelled with it. */
function isOrdinary(text: string, at: number, character: string): boolean {
  if (!/[\ufe0e\ufe0f\u200c\u200d]/.test(character)) return false;
  const [before, after] = [text.slice(Math.max(0, at - LONGEST), at), text.slice(at + 1, at + 1 + LONGEST)];
  if (character === '\ufe0e' || character === '\ufe0f') return /\p{Emoji}$/u.test(before);
  if (JOINED_BEFORE.test(before) && JOINED_AFTER.test(after)) return true;
  return character === '\u200d' && EMOJI_BEFORE.test(before) && /^\p{Extended_Pictographic}/u.test(after);
}

/** An emoji with its skin tone, in UTF-16. */
const LONGEST = 4;
const EMOJI_BEFORE = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u;

/** Persian, Sinhala and others are spelled with joiners. */
const JOINED = `[${[
  ...['Arabic', 'Syriac', 'Nko', 'Mongolian', 'Devanagari', 'Bengali', 'Gurmukhi', 'Gujarati'],
  ...['Oriya', 'Tamil', 'Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar'],
]
  .map((script) => `\\p{Script=${script}}`)
  .join('')}]`;
const JOINED_BEFORE = new RegExp(`${JOINED}$`, 'u');
const JOINED_AFTER = new RegExp(`^${JOINED}`, 'u');

/** A line that may open or close a code fence, or the beginning of a comment. */
const FENCE_OR_COMMENT = /(?<=^|\n) {0,3}(?<fence>`{3,}(?!.*`)|~{3,})|<!--/g;

/** The comments outside code fences. One that is never closed is its opening alone: what follows may be anybody's. */
function findComments(text: string): string[] {
  const comments: string[] = [];
  let fence = '';
  let end = 0;
  for (const piece of text.matchAll(FENCE_OR_COMMENT)) {
    if (piece.index < end) continue; // inside a comment
    if (piece.groups?.fence) fence = fenceAfter(fence, piece, text);
    else if (fence === '') {
      const closing = end === -1 ? -1 : text.indexOf('-->', piece.index + 2);
      comments.push(closing === -1 ? '<!--' : text.slice(piece.index, closing + 3));
      end = closing === -1 ? -1 : closing + 3; // -1: there is no closing any more
    }
  }
  return comments.filter((comment) => !isMarker(comment));
}

/** The fence that is open after a line that looks like one; empty for none. */
function fenceAfter(open: string, line: RegExpMatchArray, text: string): string {
  const fence = line.groups!.fence!;
  if (open === '') return fence;
  const from = line.index! + line[0].length;
  const newline = text.indexOf('\n', from);
  const rest = text.slice(from, newline === -1 ? text.length : newline);
  return fence[0] === open[0] && fence.length >= open.length && rest.trim() === '' ? '' : open;
}
