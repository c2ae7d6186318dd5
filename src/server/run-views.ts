import type { RunListing } from '../stores/index.ts';
import { type WatchedRun, watchRun } from './watched-run.ts';

/** A run that nobody has looked at for so long is let go: a long one takes much memory. */
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
      const run = open.get(key) ?? watchRun(listing);
      open.set(key, run);
      return run;
    },
    close(): void {
      clearInterval(timer);
      drop(() => true);
    },
  };
}
