import { strip } from '../text/python-text.ts';
import { readBlock, writeBlock } from './marked-block.ts';

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
