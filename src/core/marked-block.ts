import { findRegions, MARKERS, type Region, withoutMarkers } from './protected-regions.ts';
import { strip } from './python-text.ts';

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
 * content there is no block. Everything else stays byte for byte.
 */
export function writeBlock(skill: string, kind: BlockKind, content: string): string {
  const text = strip(withoutMarkers(content));
  const blocks = blocksOf(skill, kind);
  const [first] = blocks;
  const kept = [...blocks].reverse().reduce((doc, block) => (block === first ? doc : cut(doc, block)), skill);
  if (text === '') return first ? cut(kept, first) : kept;
  const block = renderBlock(kind, text);
  if (first) return kept.slice(0, first.start) + block + kept.slice(first.end);
  return `${kept}${gapAfter(kept)}${block}\n`;
}

const blocksOf = (skill: string, kind: BlockKind) => findRegions(skill).filter((region) => region.kind === kind);

const renderBlock = (kind: BlockKind, text: string) => `${MARKERS[kind].start}\n${text}\n${MARKERS[kind].end}`;

/** A block goes with the empty lines that set it off from what follows. */
function cut(skill: string, { start, end }: Region): string {
  return skill.slice(0, start) + skill.slice(end).replace(/^\n{1,2}/, '');
}

/** So many line ends that one empty line stands between the text and what comes. */
function gapAfter(text: string): string {
  if (text === '' || text.endsWith('\n\n')) return '';
  return text.endsWith('\n') ? '\n' : '\n\n';
}
