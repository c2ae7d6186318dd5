import { strip } from '../text/python-text.ts';
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
