/**
 * What the commands do, for programs: open a project and a run, train, apply, compare, score, examine. Nothing here prints or asks;
 * observers and notices are notified. Adding a line here is adding public API.
 */

export {
  type AppliedRun,
  type ApplyOptions,
  type ApplyPlan,
  applyRun,
  type CalibratedSkill,
  type CalibrationInput,
  type Check,
  type Compared,
  type CompareOptions,
  calibrateSkill,
  checkTaskFile,
  compareDocuments,
  compareRuns,
  type ExamineOptions,
  estimateProject,
  examineProject,
  type FollowEnd,
  findRun,
  followRun,
  type LoadedRun,
  listRuns,
  type OpenDraft,
  type OpenEval,
  type OpenRun,
  openAppliedFolder,
  openDraft,
  openEval,
  openRun,
  type RunRow,
  readRun as loadRun,
  runAnswer,
  type TrainedRun,
  type TrainOptions,
  type TryOptions,
  tryAgent,
  type Undone,
  undoApply,
} from '../app/index.ts';
export { type Caller, type LoadedProject, loadProject as openProject } from '../project/index.ts';
export type { CompareReport, CostEstimate, EvalReport } from '../report/index.ts';
