import type { TakenUp } from '../../app/index.ts';
import {
  type AgentsSpent,
  emptyRun,
  noStageUsage,
  type Progress,
  type RunEvent,
  type RunObserver,
  type RunState,
  STAGES,
  type UsageTable,
} from '../../core/run/index.ts';
import { PASS_MARK } from '../../core/stats/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { agentTargetOf, type Caller, type LoadedProject } from '../../project/index.ts';
import {
  type Change,
  clip,
  duration,
  eventLines,
  finishedRollouts,
  forecastWords,
  isSearchOver,
  madeRollouts,
  openLine,
  progressBlock,
  testedRollouts,
} from '../../report/index.ts';
import { interruptible } from '../errors.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { type LiveBlock, openLiveBlock } from './live-block.ts';

const REDRAW_MS = 120;

type ProgressReporter = Omit<RunObserver, 'onOpen'> & {
  onOpen(state: RunState, takenUp?: TakenUp): void;
  /** A line of its own, which does not disturb the live block. */
  log(line: string): void;
  close(): void;
};

type ProgressOptions = {
  readonly isQuiet?: boolean;
  /** Of a night: a run that is done is one of several documents, and no reason to start over. */
  readonly isNight?: boolean;
  /** The run is one of another process: its tasks are marked as they come in. */
  readonly isWatched?: boolean;
};

/** Shows a run on stderr: a live block on a terminal, plain lines anywhere else, warnings alone when quiet. */
export function openProgress(terminal: Terminal, options: ProgressOptions = {}): ProgressReporter {
  const { isQuiet = false, isNight = false, isWatched = false } = options;
  const { stderr } = terminal.io;
  const isLive = stderr.isTTY === true && !isQuiet;
  const look = () => ({ width: lineWidth(stderr.columns), colors: terminal.errorColors });
  const log = terminal.say; // above the live block, where there is one
  const tell = (line: string | undefined) => void (line !== undefined && !isQuiet && log(line));
  const run = followRun();
  const forecast = forecastOnce(isLive ? undefined : tell);
  const trouble = watchTrouble(isLive ? undefined : tell);
  const block = redrawnBlock(terminal, () => [
    ...progressBlock(run.view(), look()),
    ...(isWatched ? markLines(run.view(), look().width) : []),
    ...trouble.lines().map((line) => clip(line.trim(), look().width)),
  ]);
  if (isLive && !isNight) block.begin(); // before the first run of a night a person is asked, and transcripts are read

  return {
    log,
    onOpen(opened, takenUp) {
      if (isLive) block.begin();
      run.open(opened, takenUp);
      if (!(isNight && opened.isDone) && !isWatched) tell(openLine(opened));
    },
    onEvent(event, after) {
      for (const line of eventLines(event, run.move(event, after), look())) tell(line);
    },
    onProgress(next) {
      run.progress(next);
      if (isWatched && !isLive) tell(markText(next));
    },
    onSpend(spent) {
      run.spend(spent);
      forecast(run.view());
    },
    ...{ onRetry: trouble.onRetry, onRateLimit: trouble.onRateLimit },
    onWarning: terminal.warn,
    close: block.close,
  };
}

/** Where nothing is redrawn, `tell` gets one line on what all attempts of an agent will cost. */
function forecastOnce(tell: ((line: string) => void) | undefined) {
  let isTold = tell === undefined;
  return (view: Parameters<typeof forecastWords>[0]) => {
    const [words] = isTold ? [] : forecastWords(view);
    if (words === undefined) return;
    isTold = true;
    tell?.(`  ${words}`);
  };
}

/** Lines at the foot of the terminal that change by themselves, from `begin` to `close`. */
function redrawnBlock({ io }: Terminal, lines: () => string[]) {
  let live: LiveBlock | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    begin() {
      if (live) return;
      live = openLiveBlock(io);
      timer = setInterval(() => live?.draw(lines()), REDRAW_MS).unref();
    },
    close() {
      clearInterval(timer);
      live?.close();
    },
  };
}

type Watching = { readonly observers: readonly RunObserver[]; readonly signal: AbortSignal; readonly caller: Caller };

type ProjectWork = {
  readonly loaded: LoadedProject;
  readonly quiet?: boolean | undefined;
  /** Whether what was done so far need not be done again. */
  readonly isKept?: boolean;
};

/** Works on a project with progress on stderr, until it is done or Ctrl-C stops it. */
export async function withProgress<T>(
  terminal: Terminal,
  { loaded, quiet: isQuiet = false, isKept = true }: ProjectWork,
  work: (watching: Watching) => Promise<T>,
): Promise<T> {
  const { io } = terminal;
  const progress = openProgress(terminal, { isQuiet });
  const stopping = { isKept, hasAgent: agentTargetOf(loaded.project) !== undefined };
  return interruptible({ io, onStop: progress.log, ...stopping }, (signal) =>
    work({ observers: [progress], signal, caller: { env: io.env, notices: terminal } }),
  ).finally(progress.close);
}

/** Work that keeps the process busy: on a terminal, a line says what it is at. */
export async function withDoing<T>(
  { io, errorColors }: Terminal,
  isQuiet: boolean | undefined,
  work: (onDoing: (what: string) => void) => Promise<T>,
): Promise<T> {
  const live = io.stderr.isTTY === true && !isQuiet ? openLiveBlock(io) : undefined;
  const onDoing = (what: string) => live?.draw([errorColors.dim(clip(`${what} …`, lineWidth(io.stderr.columns)))]);
  return work(onDoing).finally(() => live?.close());
}

function followRun() {
  let startedAt = performance.now();
  let state: RunState = emptyRun;
  let [finishedBefore, shownMade] = [0, 0];
  let progress: Progress | undefined;
  let marks = '';
  let before = emptyRun.usage;
  let spent: AgentsSpent | undefined;
  return {
    view() {
      const usage = spent ? usageWith(spent, before, state.usage) : state.usage;
      shownMade = Math.max(shownMade, madeRollouts(state, progress));
      const elapsedMs = performance.now() - startedAt;
      return { state, progress, marks, spent, usage, shownMade, finishedBefore, elapsedMs };
    },
    spend(all: AgentsSpent) {
      spent = all;
    },
    open(opened: RunState, takenUp?: TakenUp) {
      state = opened;
      before = (takenUp?.state ?? opened).usage; // agents' spending counts from there
      spent = undefined;
      if (takenUp) startedAt = performance.now() - Math.max(0, Date.now() - takenUp.at);
      shownMade = 0;
      finishedBefore = finishedRollouts(takenUp?.state ?? opened);
      progress = comingPhase(opened);
    },
    move(event: RunEvent, after: RunState): Change {
      const change = { before: state, after };
      state = after;
      progress = phaseAfter(event, change, progress);
      return change;
    },
    progress(next: Progress) {
      const isSame = next.phase === progress?.phase && next.step === progress.step && progress.done > 0;
      marks = (isSame ? marks : '') + markOf(next);
      progress = next;
    },
  };
}

function phaseAfter(event: RunEvent, { before, after }: Change, progress: Progress | undefined): Progress {
  const coming = comingPhase(after, event);
  if (event.type !== 'test-end') return coming;
  // All tests end at the same time, and their events come one after the other: what the others attempted stays counted.
  const counted = testedRollouts(after) - testedRollouts(before);
  return { ...coming, done: Math.max(0, (progress?.done ?? 0) - counted) };
}

/** With what agents have spent that no event has counted yet. */
function usageWith({ calls, costUsd }: AgentsSpent, before: UsageTable, now: UsageTable): UsageTable {
  const [then, counted] = [before.rollout ?? noStageUsage, now.rollout ?? noStageUsage];
  const rollout = {
    ...counted,
    replies: Math.max(counted.replies, then.replies + calls),
    costUsd: Math.max(counted.costUsd, then.costUsd + costUsd),
  };
  return { ...now, rollout };
}

/** A task that passed, failed, or got no score. */
function markOf({ result }: Progress): string {
  if (!result) return '';
  return result.errored ? '·' : result.hard >= PASS_MARK ? '✓' : '✗';
}

/** Where nothing is redrawn, each task has a line. */
function markText(progress: Progress): string | undefined {
  const { phase, done, total, result } = progress;
  return result && `  ${markOf(progress)} ${oneLine(result.id)}  ${phase} ${done}/${total}`;
}

const markLines = ({ marks }: { readonly marks: string }, width: number) => (marks === '' ? [] : [marks.slice(-width)]);

/** What a run does next, before the first of it is done. */
function comingPhase(state: RunState, event?: RunEvent): Progress {
  const coming = { step: state.draft.step ?? 0, done: 0, total: 0 };
  if (event?.type === 'stage-end') return { ...coming, phase: STAGES[STAGES.indexOf(event.stage) + 1] ?? 'evaluate' };
  if (!state.baseline) return { ...coming, phase: 'baseline' };
  return { ...coming, phase: isSearchOver(state) ? 'test' : 'rollout' };
}

/** One column is left free, because some terminals wrap after the last one. A file or a pipe gets whole lines. */
const lineWidth = (columns: number | undefined) =>
  columns === undefined ? Number.MAX_SAFE_INTEGER : Math.max(1, Math.min(columns, 121) - 1);

/** What a provider makes a run wait for. When one is down or slows us down, every call in flight says so. */
type Trouble = Required<Pick<RunObserver, 'onRetry' | 'onRateLimit'>> & {
  /** One line for all pauses, and one for all retries. */
  lines(): string[];
};

/** `tell` gets lines for a file, ever more rarely the longer the trouble lasts. */
function watchTrouble(tell: ((line: string) => void) | undefined): Trouble {
  const pauses = createTally(tell);
  const retries = createTally(tell);
  let pausedMs = 0;
  return {
    onRateLimit(change) {
      const { account } = change;
      if (change.type === 'pause') {
        pausedMs += change.pauseMs;
        const all = (count: number) => ` (${plural(count, 'pause')}, ${duration(pausedMs)} in all)`;
        pauses.note(`  ${account} wants a pause: ${duration(change.pauseMs)}`, all);
      } else if (change.reason === 'cut')
        tell?.(`  ${account} refuses more calls: ${change.calls} at once from now on`);
    },
    onRetry({ error, attempt, delayMs }) {
      const all = (count: number) => ` (${plural(count, 'retry', 'retries')} so far)`;
      retries.note(`  retry ${attempt} in ${duration(delayMs)}: ${oneLine(error.message)}`, all);
    },
    lines: () => [pauses.line(), retries.line()].filter((line) => line !== ''),
  };
}

const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 60_000;

function createTally(tell: ((line: string) => void) | undefined) {
  let [count, line] = [0, ''];
  let [nextAt, gapMs] = [Number.NEGATIVE_INFINITY, FIRST_GAP_MS];
  return {
    line: () => line,
    note(what: string, all: (count: number) => string) {
      count++;
      line = count === 1 ? what : what + all(count);
      const now = performance.now();
      if (now < nextAt) return;
      tell?.(line);
      nextAt = now + gapMs;
      gapMs = Math.min(LONGEST_GAP_MS, gapMs * 2);
    },
  };
}
