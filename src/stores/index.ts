// The public names of this room. Adding a line is adding API.

export { archiveRun } from './archive-run.ts';
export { type Journal, openJournal, readJournal } from './journal.ts';
export { listRuns, type RunListing } from './list-runs.ts';
export { type MemoryRun, memoryRun } from './memory-run.ts';
export { runDirectory } from './run-directory.ts';
export { type RunLock, takeRunLock } from './run-lock.ts';
export { type OpenCaches, openCaches } from './text-cache.ts';
