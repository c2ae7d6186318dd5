/** A run as its journal tells it: browser-safe, for pages and tools that show runs. Adding a line here is adding public API. */

export type { Bucket, Evaluation, ItemScore } from '../core/contracts/index.ts';
export {
  type AcceptedEdit,
  acceptedEdits,
  type Comparison,
  type Detail,
  detailViews,
  type EditEffect,
  emptyRun,
  type FinalMeasurement,
  type GateDecision,
  isAccepted,
  type JournalLines,
  journalLines,
  type Progress,
  type RunEvent,
  type RunFact,
  type RunState,
  type RunSummary,
  reduce,
  reportedScores,
  type ScoredSkill,
  STAGES,
  type Stage,
  type StageUsage,
  type Stamp,
  type StepAction,
  type StepRecord,
  stateViews,
  summarize,
  type TestReport,
  toFact,
  type Verdict,
  type VerdictKind,
  type VerdictOptions,
  verdictOf,
  winnerMeasurement,
} from '../core/run/index.ts';
export type { Estimate, Interval } from '../core/stats/index.ts';
/** What a run did, event by event. */
/** The lines of a journal, in order. */
/** An action that puts the candidate in the place of the current skill. */
/** The state of a run is a fold: `events.reduce(reduce, emptyRun)`. */
/** What a run came to, or has so far. */
/** The same in a word, with the figures that it stands on: what a person should hear first. */
/** The files of a run directory, made from events and state. */
