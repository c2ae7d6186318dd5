export type { AgentEstimate } from './agent-estimate.ts';
export { type ApplyPlan, applyPlan, documentPath, planApply } from './apply/apply-run.ts';
export { filesOf, scriptsIn } from './apply/planned-files.ts';
export { type Undone, undoApply } from './apply/undo-apply.ts';
export { type ListedEdit, listEdits } from './edit-list.ts';
export { type CostEstimate, estimateWiring } from './estimate-project.ts';
export { type FollowEnd, followRun, type TakenUp } from './follow-run.ts';
export { findRun, type LoadedRun, liveRun, loadRun, noRun, onlyRun, runPath, standingOf } from './load-run.ts';
export { type Measured, type MeasuredSubject, measurePasses } from './measure-passes.ts';
export type { NightEstimate } from './night/estimate-night.ts';
export { type FinishedNight, finishedNight, isNight, listNightRuns, nightPath } from './night/find-nights.ts';
export {
  harvestSessions,
  ignoreSessions,
  isTaskId,
  type NotSurveyed,
  surveySessions,
  unknownIds,
} from './night/harvest-sessions.ts';
export {
  type NightPlan,
  type NightPreview,
  type PlannedWork,
  planNight,
  planOf,
  previewNight,
} from './night/plan-night.ts';
export {
  adoptProposals,
  dropProposal,
  isProjectOf,
  type NightStatus,
  nightStatus,
  rollbackProposals,
} from './night/proposals.ts';
export { measureReview, reviewCost } from './night/review-proposal.ts';
export {
  type NightConsent,
  type NightEvent,
  type NightLimits,
  openModels,
  requireConsent,
  runNight,
  skillPathOf,
} from './night/run-night.ts';
export { inlineFiles } from './overlay-env.ts';
export { prepareRun } from './prepare-run.ts';
export { describeRun, type RunRow } from './run-row.ts';
export { examineNight, type NightCheck } from './schedule/check-night.ts';
export { flagShape, flagWords } from './schedule/job-of.ts';
export { takeTurn } from './schedule/kept-schedule.ts';
export { clockText, logPath, type NightJob, readClock, type ScheduleKind } from './schedule/night-job.ts';
export {
  findJobProblems,
  installJob,
  type PreparedJob,
  prepareJob,
  removeJobs,
  requireLocal,
} from './schedule/schedule-night.ts';
export { type CheckKind, checkSkill, type SkillCheck } from './scoring/check-skill.ts';
export { compareSides, type Side, type SideComparison, sideOf } from './scoring/compare-sides.ts';
export { ALL_SPLITS, planSplits } from './scoring/plan-splits.ts';
export { otherDifferences, requireSameMetric, runSide } from './scoring/run-side.ts';
export { type ScoredDocument, type Subject, scoreDocuments, wireDocument } from './scoring/score-documents.ts';
export { versionFinder } from './skill-version.ts';
export { attemptOf, loadAttempts, type TaskAttempt } from './task-attempts.ts';
export { loadQueries, type TriggerShare, triggerFigures } from './trigger-figures.ts';
export { type Tried, tryAgent } from './try-agent.ts';
export { readSkill, type Wiring, wireRun, withDocument } from './wire-run.ts';
