export { type AdapterEnv, type AdapterEnvOptions, adapterEnv } from './adapter/adapter-env.ts';
export {
  type AdapterContext,
  type BuildOptions,
  EnvAdapter,
  type Episode,
  type EpisodeCounts,
  isEnvAdapter,
  type RawPatchDict,
  type RolloutDict,
  type Selection,
} from './adapter/env-adapter.ts';
export { type EnvFactory, envNames, findEnvFactory, registerEnv } from './env-registry.ts';
export { type EvalItem, isEvals, isTriggerSet, readEvals } from './import/evals.ts';
export { describeLeftOut, type LeftOut, NotCarried, reasonOf } from './import/left-out.ts';
export { type Assertion, toCheck } from './import/promptfoo/assertion.ts';
export { importPromptfoo, isPromptfoo } from './import/promptfoo/import-promptfoo.ts';
export { fromJsPattern } from './import/promptfoo/js-pattern.ts';
export { type Fields, parseData } from './import/promptfoo/source.ts';
export type { TestRow } from './import/promptfoo/test-rows.ts';
export { bytesBelow, readBelow, textIn } from './import/read-below.ts';
export {
  BaseDataLoader,
  type BatchSpec,
  type DataItem,
  planItems,
  planSeeds,
  type SplitLoaderOptions,
} from './loader/base-data-loader.ts';
export { SplitDataLoader } from './loader/split-data-loader.ts';
export {
  type DraftMarks,
  draftMarksOf,
  type EnvProject,
  type LoadedTasks,
  loadQaItems,
  loadTasks,
  type PeekedTasks,
  peekTasks,
  type TaskOptions,
  tasksOf,
} from './qa/load-qa-env.ts';
export { Columns, QaItem, type QaItemInput } from './qa/qa-columns.ts';
export {
  type AnswerScore,
  extractAnswer,
  normalizeAnswer,
  SimpleQAEnv,
  type SimpleQAEnvOptions,
  scoreAnswer,
  tokenF1,
} from './qa/simple-qa-env.ts';
export { asksModel } from './qa/task-judges.ts';
export { withContentIds } from './read/content-id.ts';
export { elementLines } from './read/element-lines.ts';
export { loadItems, TASK_FILE_ENDINGS } from './read/load-items.ts';
export { isFilled, parseRows } from './read/parse-rows.ts';
export { isTree, megabytes, peekRows, readHead } from './read/peek-rows.ts';
export { type Row, takeSplits } from './read/row.ts';
export { tasksInvalid, unreadable } from './read/tasks-invalid.ts';
export {
  apportion,
  isRatio,
  isTooFew,
  type SplitOptions,
  type SplitSizes,
  type Splits,
  sizesOf,
  sizesText,
  splitItems,
  stratifiedSample,
} from './split.ts';
