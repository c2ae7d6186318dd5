import type { NightEstimate, NightEvent, NightPlan } from '../../app/index.ts';
import { count, plural } from '../../core/text/index.ts';
import { estimateLine, rangeText } from '../../report/index.ts';
import { findSource } from '../../transcripts/index.ts';
import { openLiveBlock } from '../progress/live-block.ts';
import type { Terminal } from '../terminal/terminal.ts';

type GatherLook = { readonly isQuiet?: boolean; readonly maxCalls?: number | undefined };

/** What a person sees while sessions are read and tasks are found: one line on a terminal, and what a proposal takes. */
export function gatherProgress(terminal: Terminal, { isQuiet = false, maxCalls }: GatherLook = {}) {
  const live = progressLine(terminal);
  const say = (line: string) => (isQuiet ? undefined : terminal.say(line));
  let isWarned = false;
  const warnOfFew = (least: number, of: string) => {
    terminal.warn(`--max-calls ${maxCalls} is too few for a proposal: ${of} about ${count(least)} calls`);
    isWarned = true;
  };
  const onEvent = (event: NightEvent) => {
    if (event.type === 'gather-start' && maxCalls !== undefined && maxCalls < event.leastCalls)
      warnOfFew(event.leastCalls, 'the smallest night that can have one takes');
    if (event.type === 'transcript-read')
      live.show(
        `reading transcripts of ${findSource(event.source).title}: ${count(event.done)} of ${count(event.total)}`,
      );
    if (event.type === 'sessions-chosen') live.clear();
    if (event.type === 'night-planned') say(costLine(event.plan));
    if (event.type === 'session-mined' && !isQuiet)
      live.show(
        `the model reads: ${count(event.sessionsDone)} of ${plural(event.sessions, 'session')}, ${plural(event.tasks, 'task')} found`,
      );
    if (event.type === 'mining-end') live.clear();
    if (event.type !== 'tasks-ready' || event.leastCalls === undefined || isWarned) return;
    const { tasks, heldOut, leastCalls, spentCalls } = event;
    const what = `${plural(tasks, 'task')}, ${heldOut} of them held out`;
    if (maxCalls !== undefined && maxCalls - spentCalls < leastCalls) warnOfFew(leastCalls + spentCalls, `${what}:`);
    else say(`${what}: a proposal takes at least about ${count(leastCalls)} calls`);
  };
  return { onEvent, close: live.clear };
}

const REDRAW_MS = 120;

function progressLine({ io }: Terminal) {
  let live: ReturnType<typeof openLiveBlock> | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;
  return {
    show(line: string) {
      if (!io.stderr.isTTY || performance.now() - drawnAt < REDRAW_MS) return;
      live ??= openLiveBlock(io);
      drawnAt = performance.now();
      live.draw([line]);
    },
    clear() {
      live?.close();
      live = undefined;
    },
  };
}

/**
 * No agent CLI says in the output of its headless mode which share of a usage limit is used: at most whether one is reached, and when
 * it ends. A guess would be worse than none.
 */
export const USAGE_LIMIT_SHARE = null;
export const USAGE_LIMIT_LINE = 'share of a usage limit: unknown';

export const minutesOf = ({ minutes }: NightEstimate) =>
  `about ${rangeText(minutes, (value) => (value < 1 ? '<1' : value.toFixed(0)))} minutes`;

const costLine = ({ estimate }: NightPlan): string =>
  `${estimateLine(estimate)}, ${minutesOf(estimate)}; ${USAGE_LIMIT_LINE}`;
