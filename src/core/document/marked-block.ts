import { strip } from '../text/index.ts';
import { MARKERS, withoutMarkers } from './protected-regions.ts';

type BlockKind = keyof typeof MARKERS;

/** What stands in the first block of a kind, without its markers; empty if there is none. */
export function readBlock(skill: string, kind: BlockKind): string {
  const [block] = blocksOf(skill, kind);
  if (!block) return '';
  const { start, end } = MARKERS[kind];
  return strip(skill.slice(block.start, block.end).replace(start, '').replace(end, ''));
}

/**
 * The document with `content` in its one block of a kind: in the place of the one that is there, or at the end. Without
 * content there is no block. Everything else stays byte for byte, also markers that have lost their other half.
 */
export function writeBlock(skill: string, kind: BlockKind, content: string): string {
  const text = strip(withoutMarkers(content));
  const block = text === '' ? '' : renderBlock(kind, text);
  const blocks = blocksOf(skill, kind);
  if (blocks.length === 0) return block === '' ? skill : `${skill}${gapAfter(skill)}${block}\n`;
  const ends = [0, ...blocks.map(({ end }) => end)];
  const outside = ends.map((end, index) => skill.slice(end, blocks[index]?.start));
  return [outside[0], block, ...outside.slice(1)].join('');
}

const renderBlock = (kind: BlockKind, text: string) => `${MARKERS[kind].start}\n${text}\n${MARKERS[kind].end}`;

type Block = { readonly start: number; readonly end: number };

/** From each end marker back to the last start marker before it: a start that was never closed begins no block. */
function blocksOf(skill: string, kind: BlockKind): Block[] {
  const { start, end } = MARKERS[kind];
  const blocks: Block[] = [];
  let open: number | undefined;
  for (const { index, 0: marker } of skill.matchAll(new RegExp(`${start}|${end}`, 'g'))) {
    if (marker === end && open !== undefined) blocks.push({ start: open, end: index + end.length });
    open = marker === start ? index : undefined;
  }
  return blocks;
}

/** So many line ends that one empty line stands between the text and what comes. */
function gapAfter(text: string): string {
  if (text === '' || text.endsWith('\n\n')) return '';
  return text.endsWith('\n') ? '\n' : '\n\n';
}

const HEADING = '## Reminders';

/** The reminders in the appendix of a skill. */
export function readNotes(skill: string): string[] {
  return readBlock(skill, 'appendix')
    .split('\n')
    .flatMap((line) => (line.startsWith('- ') ? [line.slice(2).trim()] : []));
}

/** The skill with these reminders and no others. */
export function writeNotes(skill: string, notes: readonly string[]): string {
  const bullets = mergeNotes([], notes).map((note) => `- ${note}`);
  return writeBlock(skill, 'appendix', bullets.length === 0 ? '' : [HEADING, ...bullets].join('\n'));
}

/** Both, in order, each said once: case, spacing and the stops at the end do not make two notes of one. */
export function mergeNotes(known: readonly string[], added: readonly string[]): string[] {
  const notes = new Map<string, string>();
  for (const note of [...known, ...added].map(collapse)) {
    const key = note.toLowerCase().replace(/(?<![ .;:,_-])[ .;:,_-]+$/, '');
    if (key !== '' && !notes.has(key)) notes.set(key, note);
  }
  return [...notes.values()];
}

const collapse = (note: string) => note.replace(/\s+/gu, ' ').trim();

/** The text between the markers of what sleep learned; empty where they are missing, or in the wrong order. */
export const readLearned = (document: string) => readBlock(document, 'learned');

/** The document with this text between the markers. What a person wrote stays byte for byte. */
export const writeLearned = (document: string, block: string) => writeBlock(document, 'learned', block);

/** A piece of the block: an item of the list with all its lines, or what stands between items. Joined by line ends, they are the block. */
export type Piece = { readonly raw: string; readonly rule?: string };

export const ITEM = /^[-*+][ \t]+(?=\S)/;

export function piecesOf(block: string): Piece[] {
  const lines = block === '' ? [] : block.split('\n');
  const pieces: Piece[] = [];
  let [start, isInItem] = [0, false];
  for (const [at, line] of lines.entries()) {
    const isItem = ITEM.test(line);
    const goesOn: boolean = isInItem && !isItem && goesOnWith(line, lines[at - 1]);
    const begins = isItem || (isInItem && !goesOn);
    if (begins && at > 0) pieces.push(...withoutBlankEnd(lines.slice(start, at)));
    if (begins) start = at;
    isInItem = isItem || goesOn;
  }
  if (lines.length > 0) pieces.push(...withoutBlankEnd(lines.slice(start)));
  return pieces;
}

/** An item goes on with what is indented, and with text right below it that begins nothing else. */
const goesOnWith = (line: string, above: string | undefined) =>
  isBlankLine(line) || /^[ \t]/.test(line) || (!isBlankLine(above) && !/^(?:#|```|~~~|>|\||<)/.test(line));

const isBlankLine = (line: string | undefined) => line?.trim() === '';

/** Empty lines behind an item are not a part of it. */
function withoutBlankEnd(lines: readonly string[]): Piece[] {
  let end = lines.length;
  while (end > 1 && isBlankLine(lines[end - 1])) end--;
  const own = pieceOf(lines.slice(0, end));
  return end < lines.length ? [own, { raw: lines.slice(end).join('\n') }] : [own];
}

function pieceOf(lines: readonly string[]): Piece {
  const raw = lines.join('\n');
  return ITEM.test(raw) ? { raw, rule: strip(raw.replace(ITEM, '').replace(/\n(?: {2}|\t)/g, '\n')) } : { raw };
}

/** A rule as an item of a list. */
export const itemOf = (rule: string) =>
  `- ${strip(rule)
    .split('\n')
    .map((line, index) => (index === 0 || line.trim() === '' ? line.trimEnd() : `  ${line}`))
    .join('\n')}`;

/** The rules in a block, whole: an item of a list with the lines that belong to it. */
export const readRules = (block: string): string[] => piecesOf(block).flatMap(({ rule }) => (rule ? [rule] : []));

/** One list item per rule, further lines indented. */
export const writeRules = (rules: readonly string[]): string =>
  rules
    .filter((rule) => strip(rule) !== '')
    .map(itemOf)
    .join('\n');

type Cap = {
  readonly maxRules?: number;
  readonly maxTokens?: number;
  /** A quarter of the characters, unless somebody counts them. */
  readonly tokensOf?: (rule: string) => number;
  /** How much speaks for a rule. The same for all, unless it is said: then the oldest goes first. */
  readonly supportOf?: (rule: string) => number;
};

/** The rules that fit under the cap, in their order: the least supported go, of those the oldest, and never a part of one. */
export function pruneRules(
  rules: readonly string[],
  cap: Cap,
): { readonly rules: string[]; readonly pruned: string[] } {
  const { maxRules = Infinity, maxTokens = Infinity, supportOf = () => 0 } = cap;
  const tokensOf = cap.tokensOf ?? ((rule) => Math.ceil(rule.length / 4));
  const leaving = rules
    .map((rule, index) => ({ index, support: supportOf(rule) }))
    .sort((a, b) => a.support - b.support);
  const gone = new Set<number>();
  let tokens = rules.reduce((sum, rule) => sum + tokensOf(rule), 0);
  for (const { index } of leaving) {
    if (rules.length - gone.size <= maxRules && tokens <= maxTokens) break;
    gone.add(index);
    tokens -= tokensOf(rules[index]!);
  }
  return { rules: rules.filter((_, index) => !gone.has(index)), pruned: rules.filter((_, index) => gone.has(index)) };
}

/** Whether a text says something already: all of its lines, whatever their bullets, spaces, capitals and full stops. */
export function isSaidIn(text: string, content: string): boolean {
  const wanted = linesOf(content);
  if (wanted.length === 0) return false;
  const lines = new Set(linesOf(text));
  return wanted.every((line) => lines.has(line));
}

/** Headings, tables and fences give shape to what follows, and may well come again. */
const isSentence = (line: string) => !/^\s*(#|\||```|~~~|<)/.test(line) && plain(line).length >= 12;

/** The content less the sentences that the text says already. */
export function newLinesOf(text: string, content: string): string {
  const lines = new Set(linesOf(text));
  const isKnown = (line: string) => isSentence(line) && lines.has(plain(line));
  if (content.includes('```')) return content;
  const proposed = content.split('\n');
  const known = new Set([...new Set(proposed)].filter(isKnown)); // each looked at once: a text may repeat one line
  return proposed.filter((line) => !known.has(line)).join('\n');
}

/** Each once: a text may be one line again and again. */
function linesOf(text: string): string[] {
  return [...new Set(text.split('\n'))].map(plain).filter((line) => line !== '');
}

const plain = (line: string) =>
  line
    .replace(/^[\s>]*(?:[-*+•]|\d{1,3}[.)])?\s+/, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<![.!;:,])[.!;:,]+$/, '')
    .toLowerCase();
