import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  emptyRun,
  type NoticeObserver,
  notifyOf,
  type RunEvent,
  type RunObserver,
  type RunState,
  reduce,
} from '../core/run/index.ts';
import {
  foldJournal,
  isRunLocked,
  JOURNAL_FILE,
  type JournalPlace,
  lockedSince,
  PROGRESS_FILE,
  type ProgressPlace,
  readProgress,
} from '../stores/index.ts';

/** Why watching ended: the run is done, no process works on it, its folder was moved, or the watcher left. */
export type FollowEnd = 'done' | 'dead' | 'moved' | 'left';

const LOOK_MS = 200;

/** When the process at work opened the run, in milliseconds, and the state of the run then. */
export type TakenUp = { readonly at: number; readonly state: RunState };

type Watcher = Required<Pick<RunObserver, 'onEvent' | 'onProgress'>> &
  NoticeObserver & { onOpen(state: RunState, takenUp: TakenUp | undefined): void };

/** Notifies a watcher of a run in another process, as its own observers are notified. Only reads: the journal, the progress and the lock. */
export async function followRun(path: string, watcher: Watcher, signal: AbortSignal): Promise<FollowEnd> {
  const journal = followJournal(join(path, JOURNAL_FILE), watcher, await lockedSince(path));
  let place: ProgressPlace = { part: -1, count: 0 };
  for (;;) {
    const isAlive = await isRunLocked(path); // before the journal is read: its last line may be written in between
    if (!(await journal.read())) return 'moved';
    if (journal.state().isDone) return 'done';
    if (!isAlive) return 'dead';
    const { news, place: next } = await readProgress(join(path, PROGRESS_FILE), place);
    place = next;
    for (const { notice, ...progress } of news) {
      if (notice) notifyOf(notice, watcher);
      else watcher.onProgress(progress);
    }
    if (signal.aborted) return 'left';
    await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

function followJournal(path: string, watcher: Watcher, takenUpAt: number | undefined) {
  let state: RunState = emptyRun;
  let stateThen: RunState = emptyRun;
  let place: JournalPlace | undefined;
  const take = (event: RunEvent) => {
    state = reduce(state, event);
    if (takenUpAt !== undefined && Date.parse(event.at) < takenUpAt) stateThen = state;
    if (place) watcher.onEvent(event, state);
  };
  return {
    state: () => state,
    /** Reads everything the first time, then what is new. False when the journal was replaced or removed. */
    async read(): Promise<boolean> {
      const file = await stat(path).catch(() => undefined);
      if (file === undefined || file.size < (place?.size ?? 0)) return false;
      const isFirst = place === undefined;
      place = await foldJournal(path, take, place);
      if (isFirst) watcher.onOpen(state, takenUpAt === undefined ? undefined : { at: takenUpAt, state: stateThen });
      return true;
    },
  };
}
