import type { HarvestProgress } from '../../sleep/harvest/update-index.ts';
import { findSource } from '../../transcripts/sources.ts';
import { openLiveBlock } from '../progress/live-block.ts';
import { count } from '../terminal/figures.ts';
import type { Terminal } from '../terminal/terminal.ts';

const REDRAW_MS = 120;

/** One line on a terminal while transcripts are read, and nothing elsewhere. */
export function harvestProgress({ io }: Terminal) {
  const live = io.stderr.isTTY ? openLiveBlock(io) : undefined;
  let drawnAt = 0;
  return {
    show({ source, done, total }: HarvestProgress) {
      if (live === undefined || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      live.draw([`reading transcripts of ${findSource(source).title}: ${count(done)} of ${count(total)}`]);
    },
    clear: () => live?.close(),
  };
}
