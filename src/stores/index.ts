// The public names of this room. Adding a line is adding API.

export { cacheStats, clearCache } from './cache/cache-stats.ts';
/** The caches of a run alone, for work that has no journal. */
export { openCaches } from './cache/text-cache.ts';
/** Moves a run out of the way of a new one. */
export { archiveRun } from './run/archive-run.ts';
/** The events of a journal file, one by one. */
export { foldJournal, type JournalPlace } from './run/journal.ts';
/** The state of a long run up to a place in its journal. */
export { type KeptState, readKeptState } from './run/kept-state.ts';
/** What a run has spent of its limits. */
export { LEDGER_FILE, readLedger } from './run/ledger-file.ts';
/** The runs below a folder, newest first. */
export { listRuns, type RunListing } from './run/list-runs.ts';
/** A run kept in an object, for tests and experiments. */
export { memoryRun } from './run/memory-run.ts';
/** What a run of another process is doing right now. */
export { PROGRESS_FILE, type ProgressPlace, readProgress } from './run/progress-file.ts';
/** A run kept in a folder. */
export { runDirectory } from './run/run-directory.ts';
export { isRunLocked, lockedSince } from './run/run-lock.ts';
/** The ledger of looks at test tasks, beside the runs. */
export { countTestLook } from './run/test-looks.ts';
