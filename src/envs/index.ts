/** Environments that come with the package, and what is needed to bring one's own tasks. */

/** The parts of the scoring, for environments that grade answers as `SimpleQAEnv` does. */
export { type AnswerScore, normalizeAnswer, scoreAnswer, tokenF1 } from './answer-score.ts';
export { extractAnswer } from './extract-answer.ts';

/** The tasks in a JSONL, JSON, CSV or YAML file, each with its line. */
export { loadItems } from './load-items.ts';
/** The same, checked to be questions with gold answers. */
export { loadQaItems } from './load-qa-items.ts';
/** A question with its gold answers: as it is used, and as it may be written. */
export type { QaItem, QaItemInput } from './qa-item.ts';
/** A task with its place in a file. */
export type { Row } from './row.ts';
/** Questions with gold answers: one call per question, exact match and word overlap. */
export { SimpleQAEnv, type SimpleQAEnvOptions } from './simple-qa-env.ts';
/** Tasks into train, val and test: as their rows say, or by a seeded shuffle. */
export { type SplitOptions, type Splits, splitItems } from './split-items.ts';
