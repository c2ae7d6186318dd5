import type { Progress, RunEvent } from '../../core/event.ts';
import type { RunObserver } from '../../core/observer.ts';
import { emptyRun, type RunState } from '../../core/run-state.ts';
import { STAGES } from '../../core/step-action.ts';
import { duration } from '../terminal/figures.ts';
import { oneLine } from '../terminal/printable.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { clip } from '../terminal/text-width.ts';
import { eventLines, openLine } from './event-line.ts';
import { openLiveBlock } from './live-block.ts';
import { progressBlock } from './progress-block.ts';
import { finishedRollouts, isSearchOver } from './rollout-count.ts';

const REDRAW_MS = 120;
const RARE_LINE_MS = 1000;

export type ProgressReporter = RunObserver & {
  /** A line of its own, which does not disturb the live block. */
  log(line: string): void;
  /** Ends the display and restores the terminal. */
  close(): void;
};

type ProgressOptions = { readonly isQuiet?: boolean };

/** Shows a run on stderr: a live block on a terminal, plain lines anywhere else, warnings alone when quiet. */
export function openProgress(terminal: Terminal, { isQuiet = false }: ProgressOptions = {}): ProgressReporter {
  const { stderr } = terminal.io;
  const live = stderr.isTTY && !isQuiet ? openLiveBlock(terminal.io) : undefined;
  const look = () => ({ width: lineWidth(stderr.columns), colors: terminal.errorColors });
  const log = (line: string) => (live ? live.log(line) : terminal.say(line));
  const startedAt = performance.now();
  let state: RunState = emptyRun;
  let finishedBefore = 0;
  let progress: Progress | undefined;

  const draw = () =>
    live?.draw(progressBlock({ state, progress, elapsedMs: performance.now() - startedAt, finishedBefore }, look()));
  const timer = live ? setInterval(draw, REDRAW_MS).unref() : undefined;
  const tell = (line: string | undefined) => {
    if (line !== undefined && !isQuiet) log(line);
  };

  return {
    log,
    onOpen(opened) {
      state = opened;
      finishedBefore = finishedRollouts(opened);
      progress = comingPhase(opened);
      tell(openLine(opened));
    },
    onEvent(event, after) {
      const before = state;
      state = after;
      progress = comingPhase(after, event);
      for (const line of eventLines(event, { before, after }, look())) tell(line);
    },
    onProgress(next) {
      progress = next;
    },
    onRetry: retryLines((line) => tell(clip(line, look().width))),
    onRateLimit: limitLines((line) => tell(clip(line, look().width))),
    onWarning: (message) => log(`${terminal.errorColors.yellow('warning:')} ${message}`),
    close() {
      clearInterval(timer);
      live?.close();
    },
  };
}

/** What a run does next, before the first of it is done. */
function comingPhase(state: RunState, event?: RunEvent): Progress {
  const coming = { step: state.draft.step ?? 0, done: 0, total: 0 };
  if (event?.type === 'stage-end') return { ...coming, phase: STAGES[STAGES.indexOf(event.stage) + 1] ?? 'evaluate' };
  if (!state.baseline) return { ...coming, phase: 'baseline' };
  return { ...coming, phase: isSearchOver(state) ? 'test' : 'rollout' };
}

/** One column is left free: some terminals wrap after the last one. */
const lineWidth = (columns = 81) => Math.max(1, Math.min(columns, 121) - 1);

/** When a provider is down, every call in flight says so. */
function retryLines(tell: (line: string) => void): NonNullable<RunObserver['onRetry']> {
  const sayRarely = atMostOneASecond(tell);
  return ({ error, attempt, delayMs }) =>
    sayRarely(`  retry ${attempt} in ${duration(delayMs)}: ${oneLine(error.message)}`);
}

/** A line when a provider slows us down, none for each call more that it takes. */
function limitLines(tell: (line: string) => void): NonNullable<RunObserver['onRateLimit']> {
  const sayRarely = atMostOneASecond(tell);
  return (change) => {
    if (change.type === 'pause') sayRarely(`  ${change.account} wants a pause: ${duration(change.pauseMs)}`);
    else if (change.reason === 'cut')
      sayRarely(`  ${change.account} refuses more calls: ${change.calls} at once from now on`);
  };
}

/** Says how many lines it left out since the last one. */
function atMostOneASecond(tell: (line: string) => void): (line: string) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  let unsaid = 0;
  return (line) => {
    const now = performance.now();
    if (now - lastAt < RARE_LINE_MS) {
      unsaid++;
      return;
    }
    tell(unsaid > 0 ? `${line} (and ${unsaid} more)` : line);
    lastAt = now;
    unsaid = 0;
  };
}
