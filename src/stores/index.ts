// The public names of this room. Adding a line is adding API.

export { cacheStats, clearCache } from './cache/cache-stats.ts';
export { openCaches } from './cache/text-cache.ts';
export {
  closeDatabase,
  DamagedFile,
  type Database,
  inTransaction,
  openOwnDatabase,
  readStatement,
  readVersion,
} from './own-database.ts';
export {
  fileReason,
  freePath,
  isFileError,
  isMissing,
  makeFolder,
  mayAccess,
  NO_FOLLOW,
  orIfMissing,
  shownPath,
  syncFolder,
  unwritable,
  writeSynced,
} from './own-files.ts';
export { type AttemptFile, listAttemptFiles, readAttempt, readAttemptIndex } from './run/attempt-files.ts';
export { foldJournal, type JournalPlace, readKeptState } from './run/journal.ts';
export { LEDGER_FILE, openLedger, readLedger } from './run/ledger-file.ts';
export { memoryRun } from './run/memory-run.ts';
export { PROGRESS_FILE, type ProgressPlace, readProgress } from './run/progress-file.ts';
export {
  archiveRun,
  JOURNAL_FILE,
  listRuns,
  type RunListing,
  requireRunName,
  runDirectory,
} from './run/run-directory.ts';
export { isRunLocked, LOCK_FILE, lockedSince, runOwner, takeLock, takeRunLock } from './run/run-lock.ts';
export { countTestLook } from './run/test-looks.ts';
export { readSmallFile, readSmallText } from './small-file.ts';
export {
  ADOPTIONS_FOLDER,
  ANSWERS_FOLDER,
  APPLIED_FOLDER,
  createPrivate,
  JOBS_FOLDER,
  makeFolderBelow,
  openStateFolder,
  PLUGINS_FOLDER,
  readPrivate,
  requireOwn,
  SCHEDULES_FOLDER,
  stateFolderOf,
  unusable,
  writePrivate,
} from './state-folder.ts';
