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
  type ApplyFigures,
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
  compareWords,
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
export { findingText } from './finding-text.ts';
export {
  type AgentEstimate,
  type CostEstimate,
  calibrationLines,
  estimateLine,
  estimateLines,
  type JudgeFigures,
  judgeLines,
  type Likely,
  type Range,
  rangeText,
} from './forecast-lines.ts';
export {
  ago,
  atMost,
  byteSize,
  COLOR_CODES,
  type Colors,
  type Column,
  clip,
  colorsFor,
  duration,
  figureTable,
  fitRows,
  isColored,
  nameSome,
  nextLines,
  rightColumns,
  table,
  textWidth,
  wrap,
} from './layout.ts';
export { checkMarkdown, githubError, githubLines, type JUnitMetric, junitText, reportView } from './markdown.ts';
export {
  markLines,
  type NextCommand,
  type NightStory,
  nightLines,
  type PoisonFate,
  type StoryLine,
  type WeekStory,
  weekLines,
} from './night/night-lines.ts';
export { reportMarkdown } from './night/night-page.ts';
export {
  commandOf,
  type DocumentReport,
  type GateAction,
  type GateTrial,
  nightCommandOf,
  notReplayableText,
  type ProposalCommand,
  type SleepReport,
  type TaskDelta,
  type WithTools,
  withToolsText,
} from './night/sleep-report.ts';
export {
  finishedRollouts,
  forecastWords,
  isSearchOver,
  madeRollouts,
  progressBlock,
  testedRollouts,
} from './progress-block.ts';
export type { TriggerFigures } from './run-details.ts';
export { reportLines, testLookLines } from './run-lines.ts';
export { KIND_WORDS, runWords, verdictWords } from './verdict-words.ts';
