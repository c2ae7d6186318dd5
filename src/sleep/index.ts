// The public names of this room. Adding a line is adding API.

export { redactSecrets } from '../core/redact/redact-secrets.ts';
export { redactValue } from '../core/redact/redact-value.ts';
/** What a night changes in the list of learned rules, and the list itself. */
export { applyEditRecords, EditRecord, toEdits } from '../core/skill/edit-record.ts';
export { pruneRules, readLearned, readRules, writeLearned, writeRules } from '../core/skill/learned-rules.ts';
/** What keeps orders of strangers out of a skill or a memory. */
export { findPoison, type Poison } from '../core/skill/poison/find-poison.ts';
export { quarantine } from '../core/skill/poison/quarantine.ts';
export type { PoisonKind } from '../core/skill/poison/rule.ts';
/** Text of sessions on its way into Markdown, and names in it on their way into a sentence. */
export { inMarkdown, nameAsData } from '../core/text/printable.ts';
/** A document as it is now, if it could be replaced. */
export { type ReadDocument, readDocument } from '../skills/index.ts';
export { stateFolderOf } from '../stores/state-folder.ts';
/** Takes secrets, homes and names of people out of a text. */
export { type RedactorPlace, redactor } from '../transcripts/redact/redactor.ts';
export { SessionDigest } from '../transcripts/session-digest.ts';
/** Every agent whose transcripts can be read. */
export { chooseSources, findSource, foundSources, transcriptSources } from '../transcripts/sources.ts';
export type { Place, TranscriptFile, TranscriptSource, Trouble } from '../transcripts/transcript-source.ts';
export { archiveTasks, poolValidation, recallTasks } from './archive.ts';
/** Where agents read what people write down for them. */
export { chooseSkills, type NamedSkill, type SkillChoice } from './documents/choose-skills.ts';
export { findMemory, findSkill } from './documents/find-documents.ts';
export type { LiveDocument } from './documents/live-document.ts';
export { type DocumentSearch, type ResolvedSkill, resolveSkill } from './documents/resolve-skill.ts';
/** Several attempts at one task, and what their difference teaches. */
export { type ContrastOptions, type ContrastRule, contrastiveReflect } from './dream/contrastive-reflect.ts';
export { dreamTasks } from './dream/dream-tasks.ts';
export { multiRollout } from './dream/multi-rollout.ts';
export { type Attempt, RolloutSet } from './dream/rollout-set.ts';
/** The sessions that were not considered yet, from all sources. */
/** A night whose questions are files that a session of an agent answers: `models` and `handoff` of `runSleepCycle`. */
export { type Handoff, HandoffPending, openHandoff } from './handoff/handoff.ts';
export type { HandoffFiles, HandoffRole } from './handoff/question-files.ts';
export { type Harvest, type HarvestCounts, type HarvestOptions, harvest } from './harvest/harvest.ts';
export { IGNORE_FILE, type Ignored, loadIgnore } from './harvest/ignore.ts';
/** Which agents, projects and sessions there are, without reading a transcript. */
export { type Overview, overview, type Tally } from './harvest/overview.ts';
export type { Scope } from './harvest/scope.ts';
export { openSessionIndex, type SessionHead, type SessionIndex } from './harvest/session-index.ts';
export { type FileTrouble, type HarvestProgress, type IndexUpdate, updateIndex } from './harvest/update-index.ts';
export { groupByHint } from './mine/dedupe-tasks.ts';
export type { Dropped, DropReason } from './mine/dropped.ts';
export type { IntentGroup } from './mine/intent-groups.ts';
/** Turns sessions into tasks worth learning from. */
export { type MineOptions, type MineProgress, type MineResult, mineTasks } from './mine/mine-tasks.ts';
export type { Check } from './mine/mined-task.ts';
export { excerptOf, type SessionExcerpt } from './mine/session-excerpt.ts';
export { readSkillHint } from './mine/skill-hint.ts';
/** One night over given tasks. */
export { type ConsolidateOptions, consolidate } from './night/consolidate.ts';
export type { ConsolidationResult, GateTrial } from './night/consolidation-result.ts';
export type { CycleInput, GatheredNight } from './night/cycle-input.ts';
export type { NightModels } from './night/document-night.ts';
export { type PreparedTasks, prepareTasks } from './night/prepare-tasks.ts';
export { quarantining } from './night/quarantining.ts';
export { reportMarkdown } from './night/report-markdown.ts';
/** One night, from the sessions to the proposal. */
export { type CycleOutcome, runSleepCycle } from './night/run-sleep-cycle.ts';
export type { GateAction } from './night/shots.ts';
export type { SleepReport } from './night/sleep-report.ts';
export { type Page, pagesOf } from './plan/pages.ts';
export { type NightPlan, planNight } from './plan/plan-night.ts';
export { type Recipient, recipientsOf } from './plan/recipients.ts';
export type { Documents } from './replay/attempt.ts';
export {
  type AggregateScores,
  aggregateScores,
  type ReplayModels,
  type ReplayOptions,
  type ReplayResult,
  replayBatch,
  replayOne,
} from './replay/replay.ts';
export { type SleepEnvOptions, sleepEnv } from './replay/sleep-env.ts';
export type { NotTaken } from './settings/imported-config.ts';
export { type LoadedSettings, loadSleepSettings } from './settings/load-settings.ts';
export { SleepSettings, withHomes } from './settings/sleep-settings.ts';
export { assignSplits, resolveFractions, type SplitOptions } from './splits.ts';
/** What nights propose, and a person's yes or no to it. */
export { type Adopted, type AdoptInput, adopt, settle } from './staging/adopt.ts';
export { agentLoads } from './staging/agent-loads.ts';
export { Proposal, pendingProposals, recordProposal } from './staging/proposal.ts';
export { type RolledBack, rollback } from './staging/rollback.ts';
export { type StageInput, stage } from './staging/stage.ts';
export { type KeptNight, listNights, makeNight, nightFolder } from './state/nights.ts';
/** Removes what was kept of a person's sessions. */
export { PURGEABLE, type Purgeable, purge, type Removed, type Retention, retain } from './state/purge.ts';
export {
  type Consent,
  type Cursors,
  cursorsOf,
  giveConsent,
  hasConsent,
  type NightRow,
  nightOf,
  recordNight,
  SleepState,
} from './state/sleep-state.ts';
export { type OpenSleepState, openSleepState, readSleepState } from './state/state-file.ts';
export { SLEEP_SPLITS, TaskRecord } from './task-record.ts';
export { readTasksFile, requireReviewed, writeTasksFile } from './tasks-file.ts';
