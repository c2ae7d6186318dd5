export {
  AMOUNTS,
  type Amounts,
  addAmounts,
  largerAmounts,
  noAmounts,
  roundUpAmounts,
  subtractAmounts,
} from './amounts.ts';
export { type AttemptPlace, attemptViews, readPlaces, toPlace } from './attempt-views.ts';
export {
  amountsIn,
  type Cost,
  callWords,
  costRows,
  costWords,
  countLoading,
  cutShortWords,
  describeUnread,
  dollarCell,
  isPriced,
  loadingIn,
  loadingOf,
  mayHaveBeenWords,
  totalCost,
} from './cost.ts';
export { type RunEvent, type RunFact, type Stamp, toFact } from './event.ts';
export {
  ACCEPTANCE_RULE,
  type LrDecision,
  type Pair,
  type Prune,
  type Refusal,
  type RunIdentity,
  type Salvage,
  type SearchEnd,
  type SkillSource,
  type SlowUpdate,
  STAGES,
  type Stage,
  type StepAction,
  type TestSubject,
} from './events/event-data.ts';
export { addFailures, type Failure, type FailureTable, failureOf, NO_ANSWER } from './failures.ts';
export {
  type Blame,
  type FinalMeasurement,
  type GateDecision,
  openEvidence,
  type RegressionCheck,
  shrunkScore,
  toEvidence,
  toKnowledge,
  toObservations,
  type WaveVerdict,
} from './gate-evidence.ts';
export { type JournalLines, journalLines, type LinesBefore, NewerJournal } from './journal.ts';
export {
  addEntry,
  createLedger,
  type Ledger,
  type LedgerEntry,
  nothingSpent,
  type OpenEntry,
  paidBeyond,
  type Spent,
  usageBeyond,
} from './ledger.ts';
export {
  type AcceptedEdit,
  acceptedEdits,
  hasPass,
  isAccepted,
  isBatchDone,
  keptEdits,
  lostCandidates,
  lostSteps,
  passOf,
  passScore,
  scoreNow,
} from './reduce/acceptance.ts';
export { reduce } from './reduce/reduce.ts';
export { groupFaults, isUnscored } from './reduce/step.ts';
export { type ResultCard, resultCard } from './result-card.ts';
export { noticing, notifyOf } from './run-notice.ts';
export {
  emptyRun,
  type Leak,
  type RunState,
  removalKey,
  type ScoredSkill,
  STATE_FORMAT,
  type TestReport,
} from './run-state.ts';
export {
  type AgentsSpent,
  type NoticeObserver,
  type OpenOptions,
  type OpenRunStore,
  type Progress,
  type RateLimitChange,
  type RunNotice,
  type RunObserver,
  type RunStore,
  type TestLook,
  type Views,
  WHOLE_FOLDER,
} from './run-store.ts';
export {
  type AnswerTable,
  addAnswers,
  addStageUsage,
  addUsage,
  type Bill,
  isNothingRead,
  LIMIT_NAMES,
  type LimitName,
  noStageUsage,
  type StageUsage,
  type UsageTable,
} from './stage-usage.ts';
export {
  type EditEffect,
  type StepBufferEntry,
  type StepRecord,
  type TriedEdit,
  withoutRejected,
} from './step-record.ts';
export {
  gateMetricScore,
  type ListedEdit,
  listEdits,
  type RunSummary,
  reportedScores,
  stepNumber,
  stepTotal,
  summarize,
  winnerMeasurement,
} from './summary.ts';
export {
  editSupport,
  type LineSupport,
  lineSupport,
  standingWords,
  supportWords,
} from './support.ts';
export { type Comparison, type Verdict, type VerdictKind, type VerdictOptions, verdictOf } from './verdict.ts';
export {
  bucketsText,
  type Detail,
  detailViews,
  isCheckpoint,
  stateViews,
  TRIAL_FOLDERS,
  type TrialAttempts,
  trialViews,
} from './views.ts';
