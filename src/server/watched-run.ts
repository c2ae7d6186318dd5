import { type FSWatcher, watch } from 'node:fs';
import type { RunListing } from '../stores/index.ts';
import { runReader, type Shown } from './read-run.ts';

/** At most ten looks a second; and one every two seconds, since a watch gets lost on network disks. */
const LEAST_GAP_MS = 100;
const TIMER_MS = 2_000;

/** A run that is folded once, and read on while somebody watches it. */
export class WatchedRun {
  readonly path: string;
  readonly #read: () => Promise<Shown>;
  readonly #listeners = new Set<() => void>();
  #looking: Promise<Shown> | undefined;
  #last: Shown | undefined;
  #lookedAt = 0;
  #usedAt = Date.now();
  #next: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watcher: FSWatcher | undefined;

  constructor({ name, path }: RunListing) {
    this.path = path;
    this.#read = runReader(name, path);
  }

  /** Reads what is new, and answers with what is known then. */
  look(): Promise<Shown> {
    this.#usedAt = Date.now();
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** What the last look has found. */
  now(): Shown | undefined {
    return this.#last;
  }

  /** Notifies of every change until the answer is called. */
  watch(notify: () => void): () => void {
    if (this.#listeners.size === 0) {
      this.#timer = setInterval(() => this.#tick(), TIMER_MS).unref();
      this.#tick();
    }
    this.#listeners.add(notify);
    return () => {
      this.#listeners.delete(notify);
      this.#usedAt = Date.now();
      if (this.#listeners.size === 0) this.close();
    };
  }

  /** Since when nobody has watched or looked, in milliseconds; undefined while somebody watches. */
  idleSince(): number | undefined {
    return this.#listeners.size > 0 ? undefined : this.#usedAt;
  }

  close(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
    clearTimeout(this.#next);
    this.#next = this.#timer = this.#watcher = undefined;
  }

  async #lookOnce(): Promise<Shown> {
    const shown = await this.#read();
    this.#lookedAt = Date.now();
    const isNew = shown !== this.#last;
    this.#last = shown;
    if (isNew) for (const notify of [...this.#listeners]) notify();
    return shown;
  }

  #lookSoon(): void {
    this.#next ??= setTimeout(
      () => {
        this.#next = undefined;
        void this.look().catch(() => undefined); // the next request says why
      },
      Math.max(0, this.#lookedAt + LEAST_GAP_MS - Date.now()),
    ).unref();
  }

  /** Again at each tick: a folder that was moved away and back is another one for the system. */
  #tick(): void {
    this.#watcher?.close();
    this.#watcher = watchFolder(this.path, () => this.#lookSoon());
    this.#lookSoon();
  }
}

function watchFolder(path: string, notify: () => void): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false }, notify).on('error', () => undefined);
  } catch {
    return undefined; // the timer looks
  }
}

/** A run is let go when nobody has looked at it for this time: a long one takes much memory. */
const KEPT_MS = 60_000;

/** One fold per run, for all who look at it. */
export function runViews() {
  const open = new Map<string, WatchedRun>();
  const drop = (isDue: (run: WatchedRun) => boolean) => {
    for (const [key, run] of open) {
      if (!isDue(run)) continue;
      run.close();
      open.delete(key);
    }
  };
  const isIdle = (run: WatchedRun) => Date.now() - (run.idleSince() ?? Date.now()) >= KEPT_MS;
  const timer = setInterval(() => drop(isIdle), KEPT_MS / 4).unref();
  return {
    open(listing: RunListing): WatchedRun {
      const key = `${listing.name} ${listing.path}`;
      const run = open.get(key) ?? new WatchedRun(listing);
      open.set(key, run);
      return run;
    },
    close(): void {
      clearInterval(timer);
      drop(() => true);
    },
  };
}
