/** A run as its journal tells it: browser-safe, for pages and tools that show runs. Adding a line here is adding public API. */

export type { FinalMeasurement, GateDecision } from '../gate/gate-decision.ts';
/** The lines of a journal, in order. */
export { type JournalLines, journalLines } from '../journal/journal-lines.ts';
export type { Bucket, Evaluation, ItemScore } from '../score.ts';
export type { Estimate, Interval } from '../stats/final-report.ts';
/** What a run did, event by event. */
export { type RunEvent, type RunFact, type Stamp, toFact } from './event.ts';
export type { Progress } from './observer.ts';
/** An action that puts the candidate in the place of the current skill. */
export { isAccepted } from './reduce/acceptance.ts';
export { type AcceptedEdit, acceptedEdits } from './reduce/edit-effect.ts';
/** The state of a run is a fold: `events.reduce(reduce, emptyRun)`. */
export { reduce } from './reduce/reduce.ts';
export { reportedScores, winnerMeasurement } from './reported-scores.ts';
export { emptyRun, type RunState, type ScoredSkill, type TestReport } from './run-state.ts';
export type { StageUsage } from './stage-usage.ts';
export { STAGES, type Stage, type StepAction } from './step-action.ts';
export type { EditEffect, StepRecord } from './step-record.ts';
/** What a run came to, or has so far. */
export { type RunSummary, summarize } from './summary.ts';
/** The same in a word, with the figures that it stands on: what a person should hear first. */
export { type Comparison, type Verdict, type VerdictKind, type VerdictOptions, verdictOf } from './verdict.ts';
/** The files of a run directory, made from events and state. */
export { type Detail, detailViews, stateViews } from './views/views.ts';
