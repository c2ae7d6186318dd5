import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { emptyRun, type RunEvent, type RunObserver, type RunState, reduce } from '../core/run/index.ts';
import {
  foldJournal,
  isRunLocked,
  type JournalPlace,
  lockedSince,
  PROGRESS_FILE,
  type ProgressPlace,
  readProgress,
} from '../stores/index.ts';

/** Why nothing more is to be seen: the run is over, nobody is at work on it, its folder was moved, or the watcher left. */
export type FollowEnd = 'done' | 'dead' | 'moved' | 'left';

const LOOK_MS = 200;

/** When the process at work took up the run, in milliseconds, and what the run was then. */
export type TakenUp = { readonly at: number; readonly state: RunState };

type Watcher = Required<Pick<RunObserver, 'onEvent' | 'onProgress'>> & {
  onOpen(state: RunState, takenUp: TakenUp | undefined): void;
};

/**
 * Tells a watcher of the run of another process what that run's own observers are told. Only reads: the journal, the progress
 * of single tasks, and the lock, by which a run is known to be alive.
 */
export async function followRun(path: string, watcher: Watcher, signal: AbortSignal): Promise<FollowEnd> {
  const journal = followJournal(join(path, 'events.jsonl'), watcher, await lockedSince(path));
  let place: ProgressPlace = { part: -1, count: 0 };
  for (;;) {
    const isAlive = await isRunLocked(path); // before the journal is read: its last line may be written in between
    if (!(await journal.read())) return 'moved';
    if (journal.state().isDone) return 'done';
    if (!isAlive) return 'dead';
    const { news, place: next } = await readProgress(join(path, PROGRESS_FILE), place);
    place = next;
    for (const progress of news) watcher.onProgress(progress);
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
    /** The first time all that is there, then what is new. False once it is another journal, or none. */
    async read(): Promise<boolean> {
      const size = await stat(path).then(
        (file) => file.size,
        () => -1,
      );
      if (size < (place?.size ?? 0)) return false;
      const isFirst = place === undefined;
      place = await foldJournal(path, take, place);
      if (isFirst) watcher.onOpen(state, takenUpAt === undefined ? undefined : { at: takenUpAt, state: stateThen });
      return true;
    },
  };
}
