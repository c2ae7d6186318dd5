/** Environments that come with the package, and what is needed to bring one's own tasks. */

/** An adapter, for what is built per batch and run at once, as an environment. */
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
/** Environments that a project may name. */
export type { EnvProject } from './env-project.ts';
export { type EnvFactory, envNames, registerEnv } from './env-registry.ts';
/** Something in a file of tasks that is not carried, and why. */
export type { LeftOut } from './import/left-out.ts';
export type { BatchSpec } from './loader/base-data-loader.ts';
/** What a batch holds: loaders, and the order of an epoch. */
export { BaseDataLoader, type DataItem } from './loader/base-data-loader.ts';
export { planItems, planSeeds } from './loader/plan-train-epoch.ts';
export { SplitDataLoader } from './loader/split-data-loader.ts';
export type { SplitLoaderOptions } from './loader/split-loader-options.ts';
/** The parts of the scoring, for environments that grade answers as `SimpleQAEnv` does. */
export { type AnswerScore, extractAnswer, normalizeAnswer, scoreAnswer, tokenF1 } from './qa/answer-score.ts';
/** The same, checked to be questions with gold answers. */
export { loadQaItems } from './qa/load-qa-env.ts';
/** The same with what of the file was left out. */
export { type LoadedTasks, loadTasks, type TaskOptions } from './qa/load-tasks.ts';
/** A question with its gold answers: as it is used, and as it may be written. */
export type { QaItem, QaItemInput } from './qa/qa-item.ts';
/** Questions with gold answers: one call per question, exact match and word overlap. */
export { SimpleQAEnv, type SimpleQAEnvOptions } from './qa/simple-qa-env.ts';
/** The rows of a task file, each with its line. */
export { loadItems } from './read/load-items.ts';
/** A task with its place in a file. */
export type { Row } from './read/row.ts';
/** Some of the tasks, every type with its share. */
export { stratifiedSample } from './split/by-task-type.ts';
/** Tasks into train, val and test: as their rows say, or by a seeded shuffle. */
export { splitItems } from './split/split-items.ts';
export type { SplitOptions, Splits } from './split/split-ratio.ts';
