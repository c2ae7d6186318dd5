export {
  type AppliedRun,
  type ApplyOptions,
  type ApplyPlan,
  applyRun,
  documentPath,
  filesOf,
  openAppliedFolder,
  scriptsIn,
} from './apply.ts';
export { type GitState, gitState } from './baseline.ts';
export { type CalibratedSkill, type CalibrationInput, calibrateSkill } from './calibrate.ts';
export { checkTaskFile, measureTasks, writeWithoutRepeated } from './check-tasks.ts';
export { type Compared, type CompareOptions, compareDocuments, compareRuns } from './compare.ts';
export { type DraftedTasks, type OpenDraft, openDraft } from './draft.ts';
export { ASSUMED, capWarnings, estimateProject, priceStages, requireWithinCaps } from './estimate.ts';
export { type OpenEval, openEval } from './evaluate.ts';
export { askForOneWord, type ExamineOptions, examineProject } from './examine.ts';
export { agentFacts, type Check, check } from './examine-agents.ts';
export { type FollowEnd, followRun, type TakenUp } from './follow-run.ts';
export { findRun, type LoadedRun, liveRun, loadRun, noRun, onlyRun, runPath, standingOf } from './load-run.ts';
export { type Next, nextCommand, nextForSkillOpt } from './next-command.ts';
export { type OpenRun, openRun, type TrainedRun, type TrainOptions, trainAt } from './open-run.ts';
export { chooseProject } from './propose-project.ts';
export { listRuns, loadQueries, type RunRow, runAnswer, triggerFigures } from './run-figures.ts';
export { ALL_SPLITS } from './score.ts';
export { attemptOf, loadAttempts, versionFinder } from './task-attempts.ts';
export { type TryOptions, tryAgent } from './try-agent.ts';
export { type Undone, undoApply } from './undo-apply.ts';
