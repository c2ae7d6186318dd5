// The public names of this room. Adding a line is adding API.

export { redactSecrets } from '../core/redact/redact-secrets.ts';
export { redactValue } from '../core/redact/redact-value.ts';
/** Text of sessions on its way into Markdown, and names in it on their way into a sentence. */
export { inMarkdown, nameAsData } from '../core/text/printable.ts';
/** Takes secrets, homes and names of people out of a text. */
export { type RedactorPlace, redactor } from '../transcripts/redact/redactor.ts';
export { SessionDigest } from '../transcripts/session-digest.ts';
/** Every agent whose transcripts can be read. */
export { chooseSources, findSource, foundSources, transcriptSources } from '../transcripts/sources.ts';
export type { Place, TranscriptFile, TranscriptSource, Trouble } from '../transcripts/transcript-source.ts';
export { archiveTasks, poolValidation, recallTasks } from './archive.ts';
/** The sessions that were not considered yet, from all sources. */
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
export type { NightModels } from './plan/estimate-night.ts';
export { type Page, pagesOf } from './plan/pages.ts';
export { type NightPlan, planNight } from './plan/plan-night.ts';
export { type Recipient, recipientsOf } from './plan/recipients.ts';
export type { NotTaken } from './settings/imported-config.ts';
export { type LoadedSettings, loadSleepSettings } from './settings/load-settings.ts';
export { SleepSettings, withHomes } from './settings/sleep-settings.ts';
export { assignSplits, resolveFractions, type SplitOptions } from './splits.ts';
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
export { stateFolderOf } from './state/state-folder.ts';
export { SLEEP_SPLITS, TaskRecord } from './task-record.ts';
export { readTasksFile, requireReviewed, writeTasksFile } from './tasks-file.ts';
