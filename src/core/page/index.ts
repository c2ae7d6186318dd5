export type {
  AttemptPage,
  AttemptRow,
  AttemptsPage,
  ComparePage,
  DoingPage,
  EventsPage,
  NightListed,
  NightsPage,
  Problem,
  ProposalPage,
  ReportData,
  RunListed,
  RunsPage,
  SkillPage,
  StepPage,
  TasksPage,
} from './answers.ts';
export {
  type ChangedTask,
  flipsBetween,
  type Race,
  type RunFigures,
  runFigures,
  type VersionRow,
} from './figures.ts';
export {
  type GridCell,
  type GridColumn,
  gridColumns,
  stepOutcomes,
  type TaskRow,
  taskRows,
  unpackCell,
} from './grid.ts';
export { changeOfPage, changePage, type PageChange, type RunPage, type RunWords } from './page.ts';
export { projectRun } from './project-run.ts';
export { type CurvePoint, noView, type RunView, type SkillVersion } from './run-view.ts';
