export {
  type AppliedRun,
  type ApplyOptions,
  type ApplyPlan,
  applyRun,
  documentPath,
  openAppliedFolder,
  scriptsIn,
  type Undone,
  undoApply,
} from './apply.ts';
export {
  checkData,
  listBenchmarks,
  pullData,
} from './benchmarks.ts';
export { checkTaskFile, measureTasks, writeWithoutRepeated } from './check-tasks.ts';
export { type DraftedTasks, type OpenDraft, openDraft } from './draft.ts';
export { estimateProject } from './estimate.ts';
export { type ExamineOptions, examineProject } from './examine.ts';
export { agentFacts, type Check } from './examine-agents.ts';
export { type FollowEnd, followRun, type TakenUp } from './follow-run.ts';
export { checkProposal, chooseProject, type Next, nextCommand, nextForSkillOpt } from './init-project.ts';
export {
  findRun,
  type LoadedRun,
  liveRun,
  loadRun,
  noRun,
  onlyRun,
  readRun,
  runPath,
  standingOf,
  viewRun,
} from './load-run.ts';
export {
  cancelJob,
  type JobHooks,
  listJobs,
  readJob,
  requireAsShown,
  runAsJob,
  startNight,
} from './night/background-night.ts';
export {
  type FinishedNight,
  finishedNight,
  isNight,
  listFinishedNights,
  listNightRuns,
  type NightsPlace,
  nightPath,
} from './night/find-nights.ts';
export {
  type NightEstimate,
  type NightLimits,
  type NightPlan,
  type NightPreview,
  NOTHING_TO_LEARN,
  type PlannedWork,
  planNight,
  planOf,
  previewNight,
} from './night/plan-night.ts';
export {
  adoptProposals,
  dropProposal,
  measureReview,
  type NightStatus,
  nightStatus,
  reviewCost,
  rollbackProposals,
} from './night/proposals.ts';
export {
  type NightConsent,
  type NightEvent,
  openModels,
  requireConsent,
  runNight,
  skillPathOf,
} from './night/run-night.ts';
export {
  harvestSessions,
  ignoreSessions,
  isTaskId,
  type NotSurveyed,
  surveySessions,
  unknownIds,
} from './night/sessions.ts';
export { type OpenRun, openRun, type TrainedRun, type TrainOptions, trainAt } from './open-run.ts';
export { capWarnings, requireWithinCaps } from './price-estimate.ts';
export {
  attemptOf,
  describeRun,
  listRuns,
  loadAttempts,
  loadQueries,
  type RunRow,
  runAnswer,
  triggerFigures,
  versionFinder,
  wholeAnswer,
} from './read-run.ts';
export { examineNight } from './schedule/check-night.ts';
export {
  clockText,
  flagShape,
  flagWords,
  logPath,
  type NightJob,
  readClock,
  type ScheduleKind,
} from './schedule/night-job.ts';
export {
  findJobProblems,
  installJob,
  type PreparedJob,
  prepareJob,
  removeJobs,
  requireLocal,
  takeTurn,
} from './schedule/schedule-night.ts';
export { type GitState, gitState } from './scoring/baseline.ts';
export { type CalibratedSkill, type CalibrationInput, calibrateSkill } from './scoring/calibrate.ts';
export { type Compared, type CompareOptions, compareDocuments, compareRuns } from './scoring/compare.ts';
export { comparisonOf, type OpenEval, openEval } from './scoring/evaluate.ts';
export { ALL_SPLITS } from './scoring/score.ts';
export { type TryOptions, tryAgent } from './try-agent.ts';
export { type OpenWorker, openWorker } from './work-elsewhere.ts';
