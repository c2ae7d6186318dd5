// The public names of this room. Adding a line is adding API.

/** Moves a run out of the way of a new one. */
export { archiveRun } from './archive-run.ts';
/** The runs below a folder, newest first. */
export { cacheStats, clearCache } from './cache-stats.ts';
export { isRunLocked } from './is-run-locked.ts';
/** The events of a journal file, one by one. */
export { foldJournal } from './journal.ts';
/** The state of a long run up to a place in its journal. */
export { type KeptState, readKeptState } from './kept-state.ts';
/** What a run has spent of its limits. */
export { LEDGER_FILE, readLedger } from './ledger-file.ts';
export { listRuns, type RunListing } from './list-runs.ts';
/** A run kept in an object, for tests and experiments. */
export { memoryRun } from './memory-run.ts';
/** A run kept in a folder. */
export { runDirectory } from './run-directory.ts';
/** The ledger of looks at test tasks, beside the runs. */
export { countTestLook } from './test-looks.ts';
/** The caches of a run alone, for work that has no journal. */
export { openCaches } from './text-cache.ts';
