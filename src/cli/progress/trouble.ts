import type { RunObserver } from '../../core/run/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { duration } from '../../report/index.ts';

/** What a provider makes a run wait for. When one is down or slows us down, every call in flight says so. */
export type Trouble = Required<Pick<RunObserver, 'onRetry' | 'onRateLimit'>> & {
  /** One line for all pauses, and one for all retries: what a terminal shows, with nothing left behind. */
  lines(): string[];
};

/** In a file, where nothing can be taken back, `tell` gets lines: rarely, and more rarely the longer it lasts. */
export function watchTrouble(tell: ((line: string) => void) | undefined): Trouble {
  const pauses = createTally(tell);
  const retries = createTally(tell);
  let pausedMs = 0;
  return {
    onRateLimit(change) {
      const { account } = change;
      if (change.type === 'pause') {
        pausedMs += change.pauseMs;
        const sum = ({ count }: { count: number }) =>
          count === 1 ? '' : ` (${plural(count, 'pause')}, ${duration(pausedMs)} in all)`;
        pauses.note(`  ${account} wants a pause: ${duration(change.pauseMs)}`, sum);
      } else if (change.reason === 'cut')
        tell?.(`  ${account} refuses more calls: ${change.calls} at once from now on`);
    },
    onRetry({ error, attempt, delayMs }) {
      const sum = ({ count }: { count: number }) =>
        count === 1 ? '' : ` (${plural(count, 'retry', 'retries')} so far)`;
      retries.note(`  retry ${attempt} in ${duration(delayMs)}: ${oneLine(error.message)}`, sum);
    },
    lines: () => [pauses.line(), retries.line()].filter((line) => line !== ''),
  };
}

type Sum = (tally: { readonly count: number }) => string;

const FIRST_GAP_MS = 1_000;
const LONGEST_GAP_MS = 60_000;

/** Counts things of one kind and knows the last of them. */
function createTally(tell: ((line: string) => void) | undefined) {
  let [count, line] = [0, ''];
  let [nextAt, gapMs] = [Number.NEGATIVE_INFINITY, FIRST_GAP_MS];
  return {
    line: () => line,
    note(what: string, sum: Sum) {
      count++;
      line = `${what}${sum({ count })}`;
      const now = performance.now();
      if (now < nextAt) return;
      tell?.(line);
      nextAt = now + gapMs;
      gapMs = Math.min(LONGEST_GAP_MS, gapMs * 2);
    },
  };
}
