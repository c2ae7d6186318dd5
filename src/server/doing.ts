import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DoingPage } from '../core/page/index.ts';
import type { Progress, RunNotice } from '../core/run/index.ts';
import { oneLine, plural } from '../core/text/index.ts';
import {
  LEDGER_FILE,
  lockedSince,
  PROGRESS_FILE,
  type ProgressPlace,
  readLedger,
  readProgress,
} from '../stores/index.ts';

const NOTHING: DoingPage = { progress: null, waiting: 0, retries: 0, notices: [] };

/** Reads what a run is doing from the files that it writes for those who watch. The same object when nothing is new. */
export function readDoing(path: string): (isRunning: boolean) => Promise<DoingPage> {
  let place: ProgressPlace = { part: -1, count: 0 };
  let [doing, stamp] = [NOTHING, ''];
  return async (isRunning) => {
    if (!isRunning) {
      doing = NOTHING;
      return doing;
    }
    const stamps = await Promise.all([PROGRESS_FILE, LEDGER_FILE].map((file) => stampOf(join(path, file))));
    if (stamps.join() === stamp) return doing;
    stamp = stamps.join();
    const { news, place: next } = await readProgress(join(path, PROGRESS_FILE), place);
    place = next;
    const notices = news.flatMap(({ notice }) => notice ?? []);
    const last = news.at(-1);
    doing = {
      progress: last ? progressIn(last) : doing.progress,
      waiting: await callsInFlight(path),
      retries: doing.retries + notices.filter(({ type }) => type === 'retry').length,
      notices: [...doing.notices, ...notices.flatMap(wordsOf)].slice(-MOST_NOTICES),
    };
    return doing;
  };
}

const progressIn = ({ phase, step, done, total, result }: Progress): Progress => ({
  ...{ phase, step, done, total },
  ...(result && { result }),
});

const MOST_NOTICES = 5;
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

function wordsOf(notice: RunNotice): string[] {
  if (notice.type === 'retry') return [`${oneLine(notice.message)}: tried again after ${seconds(notice.delayMs)}`];
  if (notice.type !== 'rate-limit') return [];
  const { account, change } = notice;
  if (change.type === 'pause') return [`${account} pauses for ${seconds(change.pauseMs)}: its rate limit`];
  return [`${account}: at most ${plural(change.calls, 'call')} at once now`];
}

const stampOf = (path: string) =>
  stat(path).then(
    ({ size, mtimeMs }) => `${size}:${mtimeMs}`,
    () => '',
  );

/** Calls of the process that works on the run now. What a killed one had in flight may have been answered, and does not wait. */
async function callsInFlight(path: string): Promise<number> {
  const aliveSince = (await lockedSince(path)) ?? 0;
  const { inFlight } = await readLedger(join(path, LEDGER_FILE), aliveSince).catch(() => ({ inFlight: 0 }));
  return inFlight;
}
