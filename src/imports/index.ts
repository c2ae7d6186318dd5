export { toEvals, type WrittenEvals } from './evals.ts';
export { importTasks, importWorkFile, importWorkFolder, requireOwnRows } from './import-tasks.ts';
export type { Imported, LeftOut } from './left-out.ts';
export {
  isTree,
  loadItems,
  megabytes,
  type Peeked,
  peekRows,
  readHead,
  readText,
  requireSmallTree,
  TASK_FILE_ENDINGS,
} from './load-items.ts';
export { cellsOf } from './readers.ts';
export {
  checkUniqueIds,
  isFilled,
  itemId,
  parseRows,
  type Row,
  takeSplits,
  tasksInvalid,
  unreadable,
  withTwins,
} from './rows.ts';
