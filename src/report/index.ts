export {
  attemptLines,
  attemptText,
  listLines,
  liveStepLines,
  type TaskAttempt,
  type Tried,
  triedLines,
} from './attempt-lines.ts';
export {
  coloured,
  filesPatch,
  foldPatch,
  patchOf,
  patchOfPlan,
  previewLines,
  type RunVerdict,
  writtenFiles,
  writtenLines,
} from './changes.ts';
export {
  type CompareReport,
  compareLines,
  compareMarkdown,
  compareValue,
  githubError,
  githubLines,
  type Side,
} from './compare-report.ts';
export {
  type CheckKind,
  type EvalReport,
  evalLines,
  evalValue,
  type ScoredDocument,
  type SideComparison,
  type SkillCheck,
  type SkillScore,
  summaryOf,
} from './eval-report.ts';
export { type Change, eventLines, openLine } from './event-lines.ts';
export {
  type AgentEstimate,
  type CostEstimate,
  calibrationLines,
  estimateLine,
  estimateLines,
  type JudgeFigures,
  judgeLines,
  type Likely,
  rangeText,
} from './forecast-lines.ts';
export { type JUnitMetric, junitText } from './junit.ts';
export {
  ago,
  byteSize,
  COLOR_CODES,
  type Colors,
  type Column,
  clip,
  colorsFor,
  duration,
  fitRows,
  isColored,
  nextLines,
  padEnd,
  table,
  textWidth,
  wrap,
} from './layout.ts';
export { checkMarkdown, reportView } from './markdown.ts';
export { type NextCommand, nightLines } from './night/night-lines.ts';
export { reportMarkdown } from './night/night-page.ts';
export { commandOf, nightCommandOf, type ProposalCommand } from './night/proposal-commands.ts';
export {
  type DocumentReport,
  type GateAction,
  type GateTrial,
  notReplayableText,
  type SleepReport,
  type TaskDelta,
  type WithTools,
  withToolsText,
} from './night/sleep-report.ts';
export { finishedRollouts, isSearchOver, progressBlock } from './progress-block.ts';
export type { TriggerFigures } from './run-details.ts';
export { reportLines, testLookLines } from './run-lines.ts';
export { KIND_WORDS, verdictWords } from './verdict-words.ts';
