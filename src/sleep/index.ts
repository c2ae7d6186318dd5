export { agentLoads, type LiveDocument, readText } from './documents/live-document.ts';
export {
  chooseSkills,
  type DocumentSearch,
  findMemory,
  findSkill,
  type NamedSkill,
  type ResolvedSkill,
  resolveSkill,
  type SkillChoice,
  skillNamed,
} from './documents/skills.ts';
export {
  type Attempt,
  type ContrastOptions,
  type ContrastRule,
  contrastiveReflect,
  multiRollout,
  RolloutSet,
} from './dream/contrast.ts';
export {
  type Handoff,
  type HandoffFiles,
  HandoffPending,
  type HandoffRole,
  openHandoff,
} from './handoff/handoff.ts';
export {
  type Harvest,
  type HarvestCounts,
  type HarvestOptions,
  harvest,
  lookbackFloor,
  readInstant,
} from './harvest/harvest.ts';
export { IGNORE_FILE, type Ignored, loadIgnore, type Scope, scopeTest } from './harvest/scope.ts';
export { folderOf, openSessionIndex, type SessionHead, type SessionIndex, timeOf } from './harvest/session-index.ts';
export {
  type FileTrouble,
  type HarvestProgress,
  type IndexUpdate,
  type Overview,
  overview,
  type Tally,
  updateIndex,
} from './harvest/update-index.ts';
export { excerptOf, heuristicTask, readSkillHint, type SessionExcerpt } from './mine/heuristic-miner.ts';
export {
  type Dropped,
  type DropReason,
  type IntentGroup,
  type MineOptions,
  type MineProgress,
  type MineResult,
  mineTasks,
} from './mine/mine-tasks.ts';
export { type Check, openMiner } from './mine/model-miner.ts';
export { type ConsolidateOptions, consolidate } from './night/consolidate.ts';
export type { ConsolidationResult } from './night/consolidation-result.ts';
export type { CycleInput, GatheredNight, NightModels } from './night/cycle-input.ts';
export { type GatherEvent, harvestNew, mineHarvest } from './night/gather.ts';
export { nightCost } from './night/night-limits.ts';
export type { CycleOutcome } from './night/over-nights.ts';
export {
  archiveTasks,
  dreamTasks,
  type PreparedTasks,
  poolValidation,
  prepareTasks,
  recallTasks,
} from './night/prepare-tasks.ts';
export type { Proof } from './night/prove.ts';
export {
  changesOf,
  openReview,
  type Reviewable,
  type ReviewDecision,
  type ReviewedChange,
  regate,
  regateCost,
  reviewedBlock,
  stageAgain,
} from './night/review.ts';
export { type NightOptions, nightScorers, runNightIn, runSleepCycle } from './night/run-sleep-cycle.ts';
export {
  canMine,
  chooseModels,
  consentMissing,
  consentQuestion,
  isHandoff,
  isSimulated,
  needsConsent,
  type Recipient,
  recipientsOf,
  rolesOfProject,
  type SleepModels,
  withConsent,
  withoutConsent,
} from './night-models.ts';
export { type OpenSleep, openSleep, type SleepOptions } from './open-sleep.ts';
export { type MinerKind, type Page, pagesOf, smallestNight, usualCalls } from './plan/pages.ts';
export {
  type AggregateScores,
  aggregateScores,
  type Documents,
  type ReplayModels,
  type ReplayOptions,
  type ReplayResult,
  replayBatch,
  replayOne,
} from './replay/replay.ts';
export { quarantining, type SleepEnvOptions, sleepEnv } from './replay/sleep-env.ts';
export { type FoundWork, findWork, nightWork, requireRoom } from './replay/work.ts';
export {
  CALLER,
  isOfProject,
  type LoadedSettings,
  loadSleepSettings,
  type NotTaken,
  projectFileOf,
} from './settings/load-settings.ts';
export { HOME_VARIABLES, nightConfig, SleepSettings, sleepShape, withHomes } from './settings/sleep-settings.ts';
export { assignSplits, groupByHint, LEAST_HELD_OUT, resolveFractions, type SplitOptions } from './splits.ts';
export { type Adopted, type AdoptInput, adopt, type RolledBack, rollback, settle } from './staging/adopt.ts';
export { findProposal, marksOf, Proposal, pendingProposals, recordProposal } from './staging/proposal.ts';
export { type StageInput, settleText, stage } from './staging/stage.ts';
export { HANDOFF_FOLDER, isProjectOf, nightFolder, placeOfProcess, projectFolder } from './state/folders.ts';
export {
  jobHash,
  type KeptNight,
  listNights,
  makeNight,
  type NightRecord,
  readNight,
} from './state/nights.ts';
export { PURGEABLE, type Purgeable, purge, type Removed, type Retention, retain } from './state/purge.ts';
export {
  Consent,
  type Cursors,
  cursorsOf,
  giveConsent,
  hasConsent,
  NightRow,
  nightOf,
  type OpenSleepState,
  openSleepState,
  readSleepState,
  recordNight,
  SleepState,
} from './state/sleep-state.ts';
export { readWaiting } from './state/waiting.ts';
export { isReplayable, SLEEP_SPLITS, TaskRecord, toTaskJson } from './task-record.ts';
export { readTasksFile, requireReplaceable, requireReviewed, tasksFileText, writeTasksFile } from './tasks-file.ts';
