import { strip } from '../text/index.ts';
import { MARKERS, withoutMarkers } from './protected-regions.ts';

type BlockKind = keyof typeof MARKERS;

/** The first block of a kind, without its markers; empty if there is none. */
export function readBlock(skill: string, kind: BlockKind): string {
  const [block] = blocksOf(skill, kind);
  if (!block) return '';
  const { start, end } = MARKERS[kind];
  return strip(skill.slice(block.start, block.end).replace(start, '').replace(end, ''));
}

/**
 * The document with `content` as its one block of a kind: in the place of the old one, or at the end. Without content there is
 * no block. All else stays byte for byte, also markers that have lost their other half.
 */
export function writeBlock(skill: string, kind: BlockKind, content: string): string {
  const text = strip(withoutMarkers(content));
  const { start, end } = MARKERS[kind];
  const block = text === '' ? '' : `${start}\n${text}\n${end}`;
  const blocks = blocksOf(skill, kind);
  if (blocks.length === 0) return block === '' ? skill : `${skill}${gapAfter(skill)}${block}\n`;
  const ends = [0, ...blocks.map((one) => one.end)];
  const outside = ends.map((from, index) => skill.slice(from, blocks[index]?.start));
  const [before, behind] = [outside[0]!, outside.slice(1).join('')];
  return block === '' ? closeGap(before, behind) : before + block + behind;
}

/** Without the blank lines that stood around a block that is gone. */
function closeGap(before: string, behind: string): string {
  const [above, below] = [
    before.replace(/(?<!\n)(?:\r\n|(?<!\r)\n)(?:\r?\n)*$/, ''),
    behind.replace(/^(?:\r?\n)+/, ''),
  ];
  const gap = before.slice(above.length) + behind.slice(0, behind.length - below.length);
  const lineEnd = gap.startsWith('\r') ? '\r\n' : '\n';
  if (above === '') return below;
  if (below.trim() === '') return gap === '' ? above : above + lineEnd;
  return above + (gap.split('\n').length > 3 ? lineEnd.repeat(2) : gap) + below;
}

type Block = { readonly start: number; readonly end: number };

/** From each end marker back to the last start marker: a start that was never closed begins no block. */
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

function gapAfter(text: string): string {
  if (text === '' || text.endsWith('\n\n')) return '';
  return text.endsWith('\n') ? '\n' : '\n\n';
}

export const readNotes = (skill: string): string[] =>
  readBlock(skill, 'appendix')
    .split('\n')
    .flatMap((line) => (line.startsWith('- ') ? [line.slice(2).trim()] : []));

export function writeNotes(skill: string, notes: readonly string[]): string {
  const bullets = mergeNotes([], notes).map((note) => `- ${note}`);
  return writeBlock(skill, 'appendix', bullets.length === 0 ? '' : ['## Reminders', ...bullets].join('\n'));
}

/** Both, in order, without repetitions: case, spacing and final stops do not count. */
export function mergeNotes(known: readonly string[], added: readonly string[]): string[] {
  const notes = new Map<string, string>();
  for (const written of [...known, ...added]) {
    const note = written.replace(/\s+/gu, ' ').trim();
    const key = note.toLowerCase().replace(/(?<![ .;:,_-])[ .;:,_-]+$/, '');
    if (key !== '' && !notes.has(key)) notes.set(key, note);
  }
  return [...notes.values()];
}

/** The text between the markers of what sleep learned. */
export const readLearned = (document: string) => readBlock(document, 'learned');

/** The document with this text between the markers. All else stays byte for byte. */
export const writeLearned = (document: string, block: string) => writeBlock(document, 'learned', block);

/** An item of a list with all its lines, or what stands between items. Joined by line ends, the pieces are the block. */
export type Piece = { readonly raw: string; readonly rule?: string };

export const ITEM = /^[-*+][ \t]+(?=\S)/;

export function piecesOf(block: string): Piece[] {
  const lines = block === '' ? [] : block.split('\n');
  const pieces: Piece[] = [];
  let [start, isInItem] = [0, false];
  for (const [at, line] of lines.entries()) {
    const isItem = ITEM.test(line);
    const isContinued: boolean = isInItem && !isItem && isContinuedBy(line, lines[at - 1]);
    const begins = isItem || (isInItem && !isContinued);
    if (begins && at > 0) pieces.push(...withoutBlankEnd(lines.slice(start, at)));
    if (begins) start = at;
    isInItem = isItem || isContinued;
  }
  if (lines.length > 0) pieces.push(...withoutBlankEnd(lines.slice(start)));
  return pieces;
}

/** An item continues with indented text, and with text right below it that begins nothing else. */
const isContinuedBy = (line: string, above: string | undefined) =>
  isBlankLine(line) || /^[ \t]/.test(line) || (!isBlankLine(above) && !/^(?:#|```|~~~|>|\||<)/.test(line));

const isBlankLine = (line: string | undefined) => line?.trim() === '';

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

export const itemOf = (rule: string) =>
  `- ${strip(rule)
    .split('\n')
    .map((line, index) => (index === 0 || line.trim() === '' ? line.trimEnd() : `  ${line}`))
    .join('\n')}`;

export const readRules = (block: string): string[] => piecesOf(block).flatMap(({ rule }) => (rule ? [rule] : []));

/** What stands between items. */
export const readPassages = (block: string): string[] =>
  piecesOf(block).flatMap(({ raw, rule }) => (rule === undefined && strip(raw) !== '' ? [strip(raw)] : []));

/** The block with another text in place of a passage between items, or after all items if it has no such passage. */
export function replacePassage(block: string, passage: string, by: string): string {
  const pieces = piecesOf(block);
  const at = pieces.findIndex(({ raw, rule }) => rule === undefined && strip(raw) === passage);
  if (at === -1) return by === '' ? block : `${block}\n\n${by}`;
  const isBlankBehind = strip(pieces[at + 1]?.raw ?? '-') === '';
  const end = at + (by === '' && isBlankBehind ? 2 : 1);
  const rest = [...pieces.slice(0, at), ...(by === '' ? [] : [{ raw: by }]), ...pieces.slice(end)];
  return rest
    .map(({ raw }) => raw)
    .join('\n')
    .trimEnd();
}

/** The items, and the passages between items, that a block has and another has not. */
export function newPiecesOf(before: string, after: string): string[] {
  const known = new Set(piecesOf(before).map(({ raw }) => strip(raw)));
  return piecesOf(after)
    .map(({ raw }) => strip(raw))
    .filter((raw) => raw !== '' && !known.has(raw));
}

export const writeRules = (rules: readonly string[]): string =>
  rules
    .filter((rule) => strip(rule) !== '')
    .map(itemOf)
    .join('\n');

type Cap = {
  readonly maxRules?: number;
  readonly maxTokens?: number;
  readonly tokensOf?: (rule: string) => number;
  readonly supportOf?: (rule: string) => number;
};

/** The rules that fit, in their order. The least supported go first, of those the oldest. */
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

/** Whether a text has all lines of `content`, whatever their bullets, spaces, capitals and full stops. */
export function isSaidIn(text: string, content: string): boolean {
  const wanted = linesOf(content);
  if (wanted.length === 0) return false;
  const lines = new Set(linesOf(text));
  return wanted.every((line) => lines.has(line));
}

const isSentence = (line: string) => !/^\s*(#|\||```|~~~|<)/.test(line) && plain(line).length >= 12;

/** The content without the sentences that the text has already. */
export function newLinesOf(text: string, content: string): string {
  const lines = new Set(linesOf(text));
  const isKnown = (line: string) => isSentence(line) && lines.has(plain(line));
  if (content.includes('```')) return content;
  const proposed = content.split('\n');
  const known = new Set([...new Set(proposed)].filter(isKnown)); // each looked at once: a text may repeat one line
  return proposed.filter((line) => !known.has(line)).join('\n');
}

const linesOf = (text: string): string[] => [...new Set(text.split('\n'))].map(plain).filter((line) => line !== '');

const plain = (line: string) =>
  line
    .replace(/^[\s>]*(?:[-*+•]|\d{1,3}[.)])?\s+/, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<![.!;:,])[.!;:,]+$/, '')
    .toLowerCase();
