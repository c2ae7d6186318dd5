export { type AdapterEnv, type AdapterEnvOptions, adapterEnv } from './adapter/adapter-env.ts';
export {
  type AdapterContext,
  type BuildOptions,
  EnvAdapter,
  isEnvAdapter,
  type RawPatchDict,
  type RolloutDict,
} from './adapter/env-adapter.ts';
export type { Episode, EpisodeCounts } from './adapter/episode-source.ts';
export type { Selection } from './adapter/select-representative.ts';
export type { EnvProject } from './env-project.ts';
export { type EnvFactory, envNames, findEnvFactory, registerEnv } from './env-registry.ts';
export { type EvalItem, isEvals, isTriggerSet, readEvals } from './import/evals.ts';
export { describeLeftOut, type LeftOut, NotCarried, reasonOf } from './import/left-out.ts';
export { type Assertion, toCheck } from './import/promptfoo/assertion.ts';
export { importPromptfoo, isPromptfoo } from './import/promptfoo/import-promptfoo.ts';
export { fromJsPattern } from './import/promptfoo/js-pattern.ts';
export { type Fields, isObject, parseData } from './import/promptfoo/source.ts';
export type { TestRow } from './import/promptfoo/test-rows.ts';
export { bytesBelow, readBelow, textIn } from './import/read-below.ts';
export { BaseDataLoader, type BatchSpec, type DataItem } from './loader/base-data-loader.ts';
export { planItems, planSeeds } from './loader/plan-train-epoch.ts';
export { SplitDataLoader } from './loader/split-data-loader.ts';
export type { SplitLoaderOptions } from './loader/split-loader-options.ts';
export { type AnswerScore, extractAnswer, normalizeAnswer, scoreAnswer, tokenF1 } from './qa/answer-score.ts';
export { type DraftMarks, draftMarksOf } from './qa/draft-marks.ts';
export { loadQaItems } from './qa/load-qa-env.ts';
export { type LoadedTasks, loadTasks, type TaskOptions, tasksOf } from './qa/load-tasks.ts';
export { type PeekedTasks, peekTasks } from './qa/peek-tasks.ts';
export { Columns } from './qa/qa-columns.ts';
export { QaItem, type QaItemInput } from './qa/qa-item.ts';
export { SimpleQAEnv, type SimpleQAEnvOptions } from './qa/simple-qa-env.ts';
export { asksModel } from './qa/task-judges.ts';
export { withContentIds } from './read/content-id.ts';
export { elementLines } from './read/element-lines.ts';
export { loadItems, TASK_FILE_ENDINGS } from './read/load-items.ts';
export { isFilled, parseRows } from './read/parse-rows.ts';
export { isTree, megabytes, peekRows, readHead } from './read/peek-rows.ts';
export { type Row, takeSplits } from './read/row.ts';
export { tasksInvalid, unreadable } from './read/tasks-invalid.ts';
export { stratifiedSample } from './split/by-task-type.ts';
export { splitItems } from './split/split-items.ts';
export { apportion, isRatio, type SplitOptions, type Splits } from './split/split-ratio.ts';
export { isTooFew, type SplitSizes, sizesOf, sizesText } from './split/split-sizes.ts';
