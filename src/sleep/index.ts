export { archiveTasks, poolValidation, recallTasks } from './archive.ts';
export { canMine, chooseModels, isHandoff, isSimulated, type SleepModels } from './choose-models.ts';
export { consentMissing, consentQuestion, withConsent, withoutConsent } from './consent.ts';
export { chooseSkills, type NamedSkill, type SkillChoice } from './documents/choose-skills.ts';
export { findMemory, findSkill } from './documents/find-documents.ts';
export type { LiveDocument } from './documents/live-document.ts';
export { type DocumentSearch, type ResolvedSkill, resolveSkill, skillNamed } from './documents/resolve-skill.ts';
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
export { type ConsolidateOptions, consolidate } from './night/consolidate.ts';
export type { ConsolidationResult } from './night/consolidation-result.ts';
export type { CycleInput, GatheredNight } from './night/cycle-input.ts';
export type { NightModels } from './night/document-night.ts';
export { type GatherEvent, harvestNew, mineHarvest } from './night/gather.ts';
export { readNight } from './night/night-record.ts';
export { type PreparedTasks, prepareTasks } from './night/prepare-tasks.ts';
export type { Proof } from './night/prove.ts';
export { quarantining } from './night/quarantining.ts';
export { openReview, type Reviewable, regate, regateCost, stageAgain } from './night/regate.ts';
export type { CycleOutcome } from './night/run-cycle.ts';
export { type NightOptions, nightScorers, runNightIn, runSleepCycle } from './night/run-sleep-cycle.ts';
export { type OpenSleep, openSleep, placeOfProcess, type SleepOptions } from './open-sleep.ts';
export { smallestNight, usualCalls } from './plan/least-calls.ts';
export { type MinerKind, type Page, pagesOf } from './plan/pages.ts';
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
export type { NotTaken } from './settings/imported-config.ts';
export { CALLER, type LoadedSettings, loadSleepSettings } from './settings/load-settings.ts';
export { HOME_VARIABLES, nightConfig, SleepSettings, sleepShape, withHomes } from './settings/sleep-settings.ts';
export { assignSplits, resolveFractions, type SplitOptions } from './splits.ts';
export { type Adopted, type AdoptInput, adopt, settle } from './staging/adopt.ts';
export { agentLoads } from './staging/agent-loads.ts';
export { findProposal, Proposal, pendingProposals, recordProposal } from './staging/proposal.ts';
export { changesOf, type ReviewDecision, type ReviewedChange, reviewedBlock } from './staging/review.ts';
export { type RolledBack, rollback } from './staging/rollback.ts';
export { type StageInput, settleText, stage } from './staging/stage.ts';
export { jobHash, type KeptNight, listNights, makeNight, nightFolder, projectFolder } from './state/nights.ts';
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
