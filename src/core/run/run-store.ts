import type { RunCaches } from '../cache.ts';
import type { RunEvent } from './event.ts';
import type { Ledger } from './ledger.ts';
import type { Progress } from './observer.ts';
import type { RunState } from './run-state.ts';

/** Files of a run directory by path, made from the journal for people to read. */
export type Views = Readonly<Record<string, string>>;

/** The views in this folder are always written together: what else lies there is of an earlier state, and goes. */
export const WHOLE_FOLDER = 'best_skill/';

export type OpenOptions = {
  /** Size that the caches should not grow beyond, in megabytes. The oldest texts are dropped. */
  readonly maxCacheMb?: number | undefined;
  /** Called with a sentence when something had to be given up, such as a damaged cache, now or later. */
  readonly onWarning?: ((message: string) => void) | undefined;
};

/** A run's one look at the test tasks. */
export type TestLook = {
  /** Of the models and the skills: with the run's name, what tells this look from others. The same again shows nothing new. */
  readonly measurement: string;
  /** Hash of the tasks: looks at others are counted apart. */
  readonly tasks: string;
  /** Hashes of the skills that are measured, by what they are called. */
  readonly subjects: Readonly<Record<string, string>>;
};

/** Where a run is kept. One writer at a time. */
export interface RunStore {
  /** What messages call it, usually its path. */
  readonly name: string;
  /** The journal so far. Reads only; changes nothing, not even a torn last line. */
  read(): Promise<RunEvent[]>;
  /** Takes the store for writing, or throws `RUN_LOCKED`. */
  open(options?: OpenOptions): Promise<OpenRunStore>;
}

export interface OpenRunStore extends AsyncDisposable {
  readonly caches: RunCaches;
  /** Without one, limits count what the journal knows, and a killed run forgets what its last step had spent. */
  readonly ledger?: Ledger;
  /** Resolves once the event would survive a crash. */
  append(event: RunEvent): Promise<void>;
  writeViews(views: Views): Promise<void>;
  /**
   * Offered the state that all events so far fold to. A store may keep it, so that readers need not fold a long journal
   * from its first event. After the last offer of a run nothing follows.
   */
  keepState?(state: RunState, offer?: { readonly isLast?: boolean }): Promise<void>;
  /** Shows those who watch from elsewhere what was just done. Returns at once, never fails, and nothing of it is needed to resume. */
  noteProgress?(progress: Progress): void;
  /**
   * Counts a look at the test tasks once, however often it is called with it, and answers its number among all looks at
   * these tasks. Without it, a run knows of no look but its own.
   */
  lookAtTest?(look: TestLook): Promise<number>;
}
