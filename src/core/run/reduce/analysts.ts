import { isSaidIn, type RawPatch, type UpdateItem } from '../../document/index.ts';
import type { Proposal } from '../step-record.ts';

export const toProposal = ({ patch, batchSize = 0 }: RawPatch): Proposal => ({
  text: patch.edits.map(({ content = '' }) => content).join('\n'),
  read: batchSize,
});

/**
 * How many analysts asked for an edit, at least: those who wrote its lines. If a merge has put it in other words, the attempts that
 * speak for it are more than a single analyst has read, or they prove one analyst alone.
 */
export function countAnalysts({ content, supportCount = 1 }: UpdateItem, proposals: readonly Proposal[]): number {
  const writers = proposals.filter(({ text }) => isSaidIn(text, content)).length;
  return writers > 0 ? writers : fewestReaders(supportCount, proposals);
}

/** The fewest analysts who have read so many attempts together. */
function fewestReaders(attempts: number, proposals: readonly Proposal[]): number {
  const sizes = proposals.map(({ read }) => read).sort((a, b) => b - a);
  if (sizes[0] === 0) return 1; // what each has read is not known
  let [covered, readers] = [0, 0];
  while (covered < attempts && readers < sizes.length) covered += sizes[readers++]!;
  return readers;
}
