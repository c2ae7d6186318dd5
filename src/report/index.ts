export { changedLines } from './layout/changed-lines.ts';
export { COLOR_CODES, type Colors, colorsFor, isColored, noColors } from './layout/colors.ts';
export {
  ago,
  byteSize,
  type Column,
  clip,
  clipWords,
  duration,
  fitRows,
  nextLines,
  padEnd,
  table,
  textWidth,
  wrap,
} from './layout/layout.ts';
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
export { type NightStory, type PoisonFate, type StoryLine, type WeekStory, weekLines } from './night/week-lines.ts';
