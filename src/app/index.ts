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
export { checkTaskFile, measureTasks, writeWithoutRepeated } from './check-tasks.ts';
export { type DraftedTasks, type OpenDraft, openDraft } from './draft.ts';
export { ASSUMED, capWarnings, estimateProject, priceStages, requireWithinCaps } from './estimate.ts';
export { askForOneWord, type ExamineOptions, examineProject } from './examine.ts';
export { agentFacts, type Check, check } from './examine-agents.ts';
export { type FollowEnd, followRun, type TakenUp } from './follow-run.ts';
export { type Next, nextCommand, nextForSkillOpt } from './init/next-command.ts';
export { chooseProject } from './init/propose-project.ts';
export { findRun, type LoadedRun, liveRun, loadRun, noRun, onlyRun, runPath, standingOf } from './load-run.ts';
export { type OpenRun, openRun, type TrainedRun, type TrainOptions, trainAt } from './open-run.ts';
export { listRuns, loadQueries, type RunRow, runAnswer, triggerFigures } from './run-figures.ts';
export { type GitState, gitState } from './scoring/baseline.ts';
export { type CalibratedSkill, type CalibrationInput, calibrateSkill } from './scoring/calibrate.ts';
export { type Compared, type CompareOptions, compareDocuments, compareRuns } from './scoring/compare.ts';
export { type OpenEval, openEval } from './scoring/evaluate.ts';
export { ALL_SPLITS } from './scoring/score.ts';
export { attemptOf, loadAttempts, versionFinder } from './task-attempts.ts';
export { type TryOptions, tryAgent } from './try-agent.ts';
export { type Undone, undoApply } from './undo-apply.ts';
