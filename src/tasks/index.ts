export { checkMeasured, checkTasks } from './check-tasks.ts';
export { assignSplits, openDrafter } from './draft/ask-drafter.ts';
export { type DraftInput, type DraftResult, draftTasks, estimateDrafting, MOST_ROUNDS } from './draft/draft-tasks.ts';
export { withoutRepeated } from './find-repeated.ts';
export type { Finding } from './finding.ts';
export { type LoadedCheck, loadForCheck } from './load-for-check.ts';
export {
  appendRows,
  type Decision,
  type DraftRow,
  decideLine,
  droppedPath,
  editable,
  lineOf,
  questionOf,
  readEdited,
  readTaskLines,
  saveDecision,
  type TaskLine,
  type TaskRow,
  unreviewedLines,
  writeTaskLines,
} from './task-file.ts';
