export { archiveTasks, poolValidation, recallTasks } from './archive.ts';
export { chooseModels, isHandoff, type SleepModels } from './choose-models.ts';
export { consentMissing, consentQuestion, withConsent, withoutConsent } from './consent.ts';
export { chooseSkills, type NamedSkill, noChoice, ownerAmong, type SkillChoice } from './documents/choose-skills.ts';
export { findMemory, findSkill } from './documents/find-documents.ts';
export type { LiveDocument } from './documents/live-document.ts';
export {
  type DocumentSearch,
  type ResolvedSkill,
  resolveSkill,
  skillFileOf,
  skillNamed,
} from './documents/resolve-skill.ts';
export { type ContrastOptions, type ContrastRule, contrastiveReflect } from './dream/contrastive-reflect.ts';
export { dreamTasks } from './dream/dream-tasks.ts';
export { multiRollout } from './dream/multi-rollout.ts';
export { type Attempt, RolloutSet } from './dream/rollout-set.ts';
export { HANDOFF_FOLDER, type Handoff, HandoffPending, openHandoff } from './handoff/handoff.ts';
export type { HandoffFiles, HandoffRole } from './handoff/question-files.ts';
export { lookbackFloor } from './harvest/choose-sessions.ts';
export { timeOf } from './harvest/cursor.ts';
export { type Harvest, type HarvestCounts, type HarvestOptions, harvest, readInstant } from './harvest/harvest.ts';
export { IGNORE_FILE, type Ignored, loadIgnore } from './harvest/ignore.ts';
export { type Overview, overview, type Tally } from './harvest/overview.ts';
export { type Scope, scopeTest } from './harvest/scope.ts';
export { folderOf, openSessionIndex, type SessionHead, type SessionIndex } from './harvest/session-index.ts';
export { type FileTrouble, type HarvestProgress, type IndexUpdate, updateIndex } from './harvest/update-index.ts';
export { groupByHint } from './mine/dedupe-tasks.ts';
export type { Dropped, DropReason } from './mine/dropped.ts';
export { heuristicTask } from './mine/heuristic-miner.ts';
export type { IntentGroup } from './mine/intent-groups.ts';
export { type MineOptions, type MineProgress, type MineResult, mineTasks } from './mine/mine-tasks.ts';
export type { Check } from './mine/mined-task.ts';
export { openMiner } from './mine/open-miner.ts';
export { excerptOf, type SessionExcerpt } from './mine/session-excerpt.ts';
export { readSkillHint } from './mine/skill-hint.ts';
export type { TargetSkill } from './mine/target-filter.ts';
export { type ConsolidateOptions, consolidate } from './night/consolidate.ts';
export type { ConsolidationResult, GateTrial } from './night/consolidation-result.ts';
export type { CycleInput, GatheredNight } from './night/cycle-input.ts';
export type { NightModels } from './night/document-night.ts';
export { readNight } from './night/night-record.ts';
export { type PreparedTasks, prepareTasks } from './night/prepare-tasks.ts';
export type { Proof } from './night/prove.ts';
export { quarantining } from './night/quarantining.ts';
export { openReview, type Reviewable, regate, regateCost, stageAgain } from './night/regate.ts';
export { isOfSeveral, reportMarkdown } from './night/report-markdown.ts';
export { type CycleOutcome, runSleepCycle } from './night/run-sleep-cycle.ts';
export type { GateAction } from './night/shots.ts';
export type { DocumentReport, SleepReport } from './night/sleep-report.ts';
export type { NightEstimate } from './plan/estimate-night.ts';
export { leastCallsFor, smallestNight, usualCalls } from './plan/least-calls.ts';
export { type Page, pagesOf } from './plan/pages.ts';
export { canMine, isSimulated, type NightPlan, planNight } from './plan/plan-night.ts';
export { type Recipient, recipientsOf } from './plan/recipients.ts';
export type { Documents } from './replay/attempt.ts';
export { nightWork } from './replay/night-work.ts';
export { type FoundWork, findWork, requireRoom } from './replay/open-work.ts';
export {
  type AggregateScores,
  aggregateScores,
  type ReplayModels,
  type ReplayOptions,
  type ReplayResult,
  replayBatch,
  replayOne,
} from './replay/replay.ts';
export { isReplayable } from './replay/replayable.ts';
export { type SleepEnvOptions, sleepEnv } from './replay/sleep-env.ts';
export { notReplayableText, type WithTools, withToolsText } from './replay/with-tools.ts';
export { cronHashes, cronLines, withCronJob, withoutCronJob } from './schedule/crontab.ts';
export {
  forgetSchedule,
  type KeptSchedule,
  keepSchedule,
  keptHashes,
  readSchedule,
  schedulesFolder,
  takeTurn,
} from './schedule/kept-schedule.ts';
export { launchdPlist, launchLabel } from './schedule/launchd-plist.ts';
export {
  type ClockTime,
  clockText,
  hashesIn,
  type JobFile,
  jobHash,
  logPath,
  markOf,
  type NightJob,
  type PinnedProgram,
  readClock,
  requireWritable,
  type ScheduleKind,
  scriptPath,
} from './schedule/night-job.ts';
export { posixScript } from './schedule/posix-script.ts';
export { systemdUnits, unitName } from './schedule/systemd-units.ts';
export { powershellQuoted, taskName, windowsScript, windowsTask } from './schedule/windows-task.ts';
export type { NotTaken } from './settings/imported-config.ts';
export { type LoadedSettings, loadSleepSettings } from './settings/load-settings.ts';
export { HOME_VARIABLES, SleepSettings, sleepShape, withHomes } from './settings/sleep-settings.ts';
export { assignSplits, resolveFractions, type SplitOptions } from './splits.ts';
export { type Adopted, type AdoptInput, adopt, settle } from './staging/adopt.ts';
export { agentLoads } from './staging/agent-loads.ts';
export { findProposal, Proposal, pendingProposals, recordProposal } from './staging/proposal.ts';
export { commandOf, nightCommandOf, type ProposalCommand } from './staging/proposal-commands.ts';
export { changesOf, type ReviewDecision, type ReviewedChange, reviewedBlock } from './staging/review.ts';
export { type RolledBack, rollback } from './staging/rollback.ts';
export { type StageInput, settleText, stage } from './staging/stage.ts';
export { type KeptNight, listNights, makeNight, nightFolder, projectFolder } from './state/nights.ts';
export { PURGEABLE, type Purgeable, purge, type Removed, type Retention, retain } from './state/purge.ts';
export {
  Consent,
  type Cursors,
  cursorsOf,
  giveConsent,
  hasConsent,
  NightRow,
  nightOf,
  recordNight,
  SleepState,
} from './state/sleep-state.ts';
export { type OpenSleepState, openSleepState, readSleepState } from './state/state-file.ts';
export { SLEEP_SPLITS, TaskRecord, toTaskJson } from './task-record.ts';
export { readTasksFile, requireReplaceable, requireReviewed, tasksFileText, writeTasksFile } from './tasks-file.ts';
