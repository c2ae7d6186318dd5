/** Environments that come with the package, and what is needed to bring one's own tasks. */

/** An adapter, for what is built per batch and run at once, as an environment. */
export {
  type AdapterContext,
  type AdapterEnv,
  type AdapterEnvOptions,
  type AnswerScore,
  adapterEnv,
  BaseDataLoader,
  type BatchSpec,
  type BuildOptions,
  type DataItem,
  EnvAdapter,
  type EnvFactory,
  type EnvProject,
  type Episode,
  type EpisodeCounts,
  envNames,
  extractAnswer,
  isEnvAdapter,
  type LoadedTasks,
  loadQaItems,
  loadTasks,
  normalizeAnswer,
  planItems,
  planSeeds,
  type QaItem,
  type QaItemInput,
  type RawPatchDict,
  type RolloutDict,
  registerEnv,
  type Selection,
  SimpleQAEnv,
  type SimpleQAEnvOptions,
  SplitDataLoader,
  type SplitLoaderOptions,
  type SplitOptions,
  type Splits,
  scoreAnswer,
  splitItems,
  stratifiedSample,
  type TaskOptions,
  tokenF1,
} from '../envs/index.ts';
export { type LeftOut, loadItems, type Row } from '../imports/index.ts';
/** Environments that a project may name. */
/** Something in a file of tasks that is not carried, and why. */
/** What a batch holds: loaders, and the order of an epoch. */
/** The parts of the scoring, for environments that grade answers as `SimpleQAEnv` does. */
/** The same, checked to be questions with gold answers. */
/** The same with what of the file was left out. */
/** A question with its gold answers: as it is used, and as it may be written. */
/** Questions with gold answers: one call per question, exact match and word overlap. */
/** The rows of a task file, each with its line. */
/** A task with its place in a file. */
/** Some of the tasks, every type with its share. */
/** Tasks into train, val and test: as their rows say, or by a seeded shuffle. */
