export { checkMeasured } from './check/check-measured.ts';
export { checkTasks, withoutRepeated } from './check/check-tasks.ts';
export type { Finding } from './check/finding.ts';
export { type LoadedCheck, loadForCheck } from './check/load-for-check.ts';
export { type DraftInput, type DraftResult, draftTasks, estimateDrafting } from './draft/draft-tasks.ts';
export { openDrafter } from './draft/open-drafter.ts';
export { assignSplits } from './draft/quotas.ts';
export {
  type Decision,
  decideLine,
  editable,
  readEdited,
  saveDecision,
  unreviewedLines,
} from './review/review-file.ts';
export { appendRows, droppedPath, lineOf, readTaskLines, type TaskLine, writeTaskLines } from './task-file.ts';
export { type DraftRow, questionOf, type TaskRow } from './task-row.ts';
