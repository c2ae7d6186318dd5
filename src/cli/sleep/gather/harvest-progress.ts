import { count, plural } from '../../../core/text/index.ts';
import type { HarvestProgress, MineProgress } from '../../../sleep/index.ts';
import { findSource } from '../../../transcripts/index.ts';
import { openLiveBlock } from '../../progress/live-block.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const REDRAW_MS = 120;

/** One line on a terminal while transcripts are read, and nothing elsewhere. */
export const harvestProgress = (terminal: Terminal) =>
  progressLine(
    terminal,
    ({ source, done, total }: HarvestProgress) =>
      `reading transcripts of ${findSource(source).title}: ${count(done)} of ${count(total)}`,
  );

/** The same while a model reads them. */
export const miningProgress = (terminal: Terminal) =>
  progressLine(
    terminal,
    ({ sessionsDone, sessions, tasks }: MineProgress) =>
      `the model reads: ${count(sessionsDone)} of ${plural(sessions, 'session')}, ${plural(tasks, 'task')} found`,
  );

function progressLine<Progress>({ io }: Terminal, lineOf: (progress: Progress) => string) {
  const live = io.stderr.isTTY ? openLiveBlock(io) : undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    show(progress: Progress) {
      if (live === undefined || performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      live.draw([lineOf(progress)]);
    },
    clear: () => live?.close(),
  };
}
