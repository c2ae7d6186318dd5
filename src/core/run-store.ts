import type { RunCaches } from './cache.ts';
import type { RunEvent } from './event.ts';

/** Files of a run directory by path, made from the journal for people to read. */
export type Views = Readonly<Record<string, string>>;

/** Where a run is kept. One writer at a time. */
export interface RunStore {
  /** What messages call it, usually its path. */
  readonly name: string;
  /** The journal so far. Reads only; changes nothing, not even a torn last line. */
  read(): Promise<RunEvent[]>;
  /** Takes the store for writing, or throws `RUN_LOCKED`. */
  open(): Promise<OpenRunStore>;
}

export interface OpenRunStore extends AsyncDisposable {
  readonly caches: RunCaches;
  /** Resolves once the event would survive a crash. */
  append(event: RunEvent): Promise<void>;
  writeViews(views: Views): Promise<void>;
}
