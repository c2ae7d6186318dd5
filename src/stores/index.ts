// The public names of this room. Adding a line is adding API.

export { cacheStats, clearCache, repliesSince } from './cache/cache-stats.ts';
export { openCaches } from './cache/text-cache.ts';
export { fileReason, isFileError, isMissing, unwritable } from './file-error.ts';
export { makeFolder } from './make-folder.ts';
export {
  closeDatabase,
  DamagedFile,
  type Database,
  inTransaction,
  readStatement,
  readVersion,
  useOwnDatabase,
} from './own-database.ts';
export { freePath, NO_FOLLOW, syncFolder, writeSynced } from './own-place.ts';
export { createPrivate, readPrivate, writePrivate } from './private-file.ts';
export { archiveRun } from './run/archive-run.ts';
export { foldJournal, type JournalPlace } from './run/journal.ts';
export { type KeptState, readKeptState } from './run/kept-state.ts';
export { LEDGER_FILE, openLedger, readLedger } from './run/ledger-file.ts';
export { listRuns, type RunListing } from './run/list-runs.ts';
export { memoryRun } from './run/memory-run.ts';
export { PROGRESS_FILE, type ProgressPlace, readProgress } from './run/progress-file.ts';
export { JOURNAL_FILE, runDirectory } from './run/run-directory.ts';
export { isRunLocked, lockedSince, takeLock } from './run/run-lock.ts';
export { countTestLook } from './run/test-looks.ts';
export { shownPath } from './shown-path.ts';
export {
  ADOPTIONS_FOLDER,
  ANSWERS_FOLDER,
  APPLIED_FOLDER,
  makeFolderBelow,
  openStateFolder,
  requireOwn,
  SCHEDULES_FOLDER,
  stateFolderOf,
  unusable,
} from './state-folder.ts';
