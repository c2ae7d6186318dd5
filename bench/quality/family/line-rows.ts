import { sum } from '../interval.ts';
import type { Row } from '../row.ts';
import { type Judged, points, times } from './judged.ts';
import type { Lines } from './search-result.ts';

const MOST_USELESS = 0.25;

/**
 * Of the lines that the shipped documents have more than the seed: how many do nothing, and how many are training answers
 * where the optimizer copies such.
 */
export function lineRow(judged: readonly Judged[]): Row {
  const [naive, ours] = [linesOf(judged, 0), linesOf(judged, 1)];
  const copying = judged.filter(({ spec }) => spec.copies > 0);
  const [naiveCopied, copied] = [linesOf(copying, 0).copied, linesOf(copying, 1).copied];
  const [naiveUseless, useless] = [shareUseless(naive), shareUseless(ours)];
  return {
    what: `${judged.length} worlds that are not null: useless lines, copied answers a document`,
    goal: `≤ ${points(MOST_USELESS, 0)} %, 0`,
    measured:
      `${points(naiveUseless)} → ${points(useless)} % of ${times(naive.added)} → ${times(ours.added)} lines a document; ` +
      `${times(naiveCopied)} → ${times(copied)} copies in ${copying.length} worlds`,
    holds: useless <= MOST_USELESS && copied === 0,
    figures: { useless, naiveUseless, copied, naiveCopied },
  };
}

/** A document's in the mean. */
function linesOf(judged: readonly Judged[], side: 0 | 1): Lines {
  const of = (key: keyof Lines) => sum(judged.map(({ figures }) => figures.lines[key][side])) / judged.length;
  return { added: of('added'), useless: of('useless'), copied: of('copied') };
}

const shareUseless = ({ added, useless }: Lines) => useless / Math.max(1e-9, added);
