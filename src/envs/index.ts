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
export {
  BaseDataLoader,
  type BatchSpec,
  type DataItem,
  planItems,
  planSeeds,
  type SplitLoaderOptions,
} from './loader/base-data-loader.ts';
export { findDataFile, SplitDataLoader } from './loader/split-data-loader.ts';
export { withContentIds } from './qa/content-id.ts';
export {
  type DraftMarks,
  draftMarksOf,
  type EnvProject,
  type FileColumns,
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
  asksModel,
  cutNote,
  extractAnswer,
  normalizeAnswer,
  SimpleQAEnv,
  type SimpleQAEnvOptions,
  scoreAnswer,
  tokenF1,
  wordOverlap,
} from './qa/simple-qa-env.ts';
export {
  apportion,
  drawnTogether,
  isRatio,
  isTooFew,
  requireSplitName,
  SPLIT_NAMES,
  type SplitOptions,
  type SplitSizes,
  type Splits,
  sizesOf,
  sizesText,
  splitItems,
  stratifiedSample,
} from './split.ts';
