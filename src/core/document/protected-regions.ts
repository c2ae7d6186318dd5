import { strip } from '../text/index.ts';

/** Blocks that step edits may not touch. Each kind is owned by one part of the optimizer. */
export const MARKERS = {
  slowUpdate: { start: '<!-- SLOW_UPDATE_START -->', end: '<!-- SLOW_UPDATE_END -->' },
  appendix: { start: '<!-- APPENDIX_START -->', end: '<!-- APPENDIX_END -->' },
  learned: { start: '<!-- SKILLOPT_SLEEP_START -->', end: '<!-- SKILLOPT_SLEEP_END -->' },
} as const;

export type Region = {
  readonly kind: 'frontmatter' | keyof typeof MARKERS;
  readonly start: number;
  readonly end: number;
};

const FRONTMATTER_START = /^---[ \t]*\r?\n/;
const FRONTMATTER_END = /(?<![^\n])---(?=[ \t]*(?:\r?\n|$))/;
const EVERY_MARKER: readonly string[] = Object.values(MARKERS).flatMap(({ start, end }) => [start, end]);

export const hasMarker = (text: string) => EVERY_MARKER.some((marker) => text.includes(marker));

/** Every protected region in order: the frontmatter, and each marked block with its markers. */
export function findRegions(skill: string): Region[] {
  const end = frontmatterEnd(skill);
  const regions: Region[] = end > 0 ? [{ kind: 'frontmatter', start: 0, end }] : [];
  for (const kind of Object.keys(MARKERS) as (keyof typeof MARKERS)[]) regions.push(...findBlocks(skill, kind));
  return regions.sort((a, b) => a.start - b.start);
}

/** The end of the frontmatter with its closing line; 0 without any. */
export function frontmatterEnd(skill: string): number {
  const start = skill.match(FRONTMATTER_START)?.[0].length;
  const length = start === undefined ? -1 : skill.slice(start).search(FRONTMATTER_END);
  return length === -1 ? 0 : start! + length + '---'.length;
}

function findBlocks(skill: string, kind: keyof typeof MARKERS): Region[] {
  const { start: open, end: close } = MARKERS[kind];
  const blocks: Region[] = [];
  for (let from = 0; ; ) {
    const start = skill.indexOf(open, from);
    if (start === -1) return blocks;
    const closing = skill.indexOf(close, start);
    const end = closing === -1 ? skill.length : closing + close.length; // an unclosed block protects the rest
    blocks.push({ kind, start, end });
    from = end;
  }
}

export const protectedText = (skill: string): string[] =>
  findRegions(skill).map(({ kind, start, end }) => `${kind}:${skill.slice(start, end)}`);

/** Content without markers, also those that appear only when another is gone. */
export function withoutMarkers(content: string): string {
  if (!hasMarker(content)) return content;
  const kept: string[] = []; // one by one, so that a text with markers in markers is read once
  for (const character of content) {
    kept.push(character);
    if (character === '>') dropMarker(kept);
  }
  return kept.join('');
}

function dropMarker(kept: string[]): void {
  if (kept.at(-2) !== '-') return;
  const ending = kept.slice(-LONGEST_MARKER).join('');
  const marker = EVERY_MARKER.find((one) => ending.endsWith(one));
  if (marker !== undefined) kept.length -= marker.length;
}

const LONGEST_MARKER = Math.max(...EVERY_MARKER.map(({ length }) => length));

/**
 * A rewritten body with the frontmatter and the marked blocks of `skill`, byte for byte. What the rewriter put in their place is
 * dropped. `undefined` when no body is left.
 */
export function keepProtected(skill: string, rewritten: string): string | undefined {
  const body = bodyOf(rewritten);
  if (body === '') return undefined;
  const regions = findRegions(skill).map(({ kind, start, end }) => ({ kind, text: skill.slice(start, end) }));
  const frontmatter = regions.filter(({ kind }) => kind === 'frontmatter').map(({ text }) => text);
  const blocks = regions.filter(({ kind }) => kind !== 'frontmatter').map(({ text }) => text);
  return `${[...frontmatter, body, ...blocks].join('\n\n')}\n`;
}

/** Below one frontmatter there may be another. */
function bodyOf(text: string): string {
  let body = strip(withoutMarkers(withoutRegions(text)));
  for (let end = frontmatterEnd(body); end > 0; end = frontmatterEnd(body)) body = strip(body.slice(end));
  return body;
}

function withoutRegions(text: string): string {
  let [body, from] = ['', 0];
  for (const { start, end } of findRegions(text)) {
    body += text.slice(from, Math.max(from, start)); // blocks of two kinds may overlap
    from = Math.max(from, end);
  }
  return body + text.slice(from);
}

const BYTE_ORDER_MARK = '\uFEFF';

/** A trained text with the byte order mark, frontmatter and line endings of the document that it replaces. */
export function keepForm(text: string, document: string): string {
  const mark = document.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const [own, body] = [document, text].map((whole) => whole.replace(/^\uFEFF/, '')) as [string, string];
  const head = own.slice(0, frontmatterEnd(own));
  const start = frontmatterEnd(body);
  const whole = head === '' ? body : `${head}${start === 0 ? '\n' : ''}${body.slice(start)}`;
  return mark + keepLineEnds(whole, own);
}

/** A text with the line ends of a document, if that has one kind. */
export const keepLineEnds = (text: string, document: string) =>
  hasOnlyCrlf(document) ? text.replace(/\r?\n/g, '\r\n') : text;

const hasOnlyCrlf = (text: string) => text.includes('\r\n') && !/(?<!\r)\n/.test(text);

export const withLineFeeds = (text: string) => text.replace(/\r\n/g, '\n');

/** A document as it is trained: models write line feeds, and quote them. `keepForm` restores the line ends. */
export const trainedForm = (text: string) => (hasOnlyCrlf(text) ? withLineFeeds(text) : text);

/** What a reader does not see: a comment in HTML, or a character without a shape. */
type HiddenText = { readonly kind: 'html_comment' | 'hidden_character'; readonly text: string };

/** The first thing that `after` hides more often than `before`. Markers of blocks do not count. */
export function findNewHidden(before: string, after: string): HiddenText | undefined {
  const comment = firstNew(findComments(before), findComments(after));
  if (comment !== undefined) return { kind: 'html_comment', text: comment };
  const character = firstNew(findShapeless(before), findShapeless(after));
  return character === undefined ? undefined : { kind: 'hidden_character', text: nameOf(character) };
}

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

/** Only the flags of England, Scotland and Wales are spelled with tags. */
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

/** Control characters but tabs and line ends, halves of characters, and what has no shape by Unicode's list. */
const SHAPELESS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\ufff9-\ufffb]|\r(?!\n)|\p{Surrogate}|\p{Default_Ignorable_Code_Point}/gu;

/** A selector after an emoji, a joiner between two, or one between letters that are spelled with it. */
function isOrdinary(text: string, at: number, character: string): boolean {
  if (!/[\ufe0e\ufe0f\u200c\u200d]/.test(character)) return false;
  const [before, after] = [text.slice(Math.max(0, at - LONGEST), at), text.slice(at + 1, at + 1 + LONGEST)];
  if (character === '\ufe0e' || character === '\ufe0f') return /\p{Emoji}$/u.test(before);
  if (JOINED_BEFORE.test(before) && JOINED_AFTER.test(after)) return true;
  return character === '\u200d' && EMOJI_BEFORE.test(before) && /^\p{Extended_Pictographic}/u.test(after);
}

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

const FENCE_OR_COMMENT = /(?<=^|\n) {0,3}(?<fence>`{3,}(?!.*`)|~{3,})|<!--/g;

/** The comments outside code fences; of an unclosed one its opening alone. */
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
  return comments.filter((comment) => !EVERY_MARKER.includes(comment));
}

function fenceAfter(open: string, line: RegExpMatchArray, text: string): string {
  const fence = line.groups!.fence!;
  if (open === '') return fence;
  const from = line.index! + line[0].length;
  const newline = text.indexOf('\n', from);
  const rest = text.slice(from, newline === -1 ? text.length : newline);
  return fence[0] === open[0] && fence.length >= open.length && rest.trim() === '' ? '' : open;
}
