import type { TaskJudgeInput } from '../core/judge/index.ts';
import { draftMarksOf } from '../envs/index.ts';

/** A task as a model drafted it: a row of the task file, whose last columns the reader of tasks leaves alone. */
export type DraftRow = {
  readonly question: string;
  readonly answers?: readonly string[];
  readonly judge?: TaskJudgeInput;
  readonly taskType: string;
  readonly split?: string;
  /** What it tests. */
  readonly why: string;
  readonly drafted: true;
  readonly reviewed: false;
  /** Independent solutions neither agree with its reference nor with each other. */
  readonly doubtful?: true;
};

/** A row of a task file, whoever wrote it. */
export type TaskRow = Readonly<Record<string, unknown>>;

/** Tasks that the skill should not change are of this kind. */
export const CONTROL = 'control';

/** A model drafted it, and nobody has looked at it. */
export const isUnreviewed = (row: TaskRow) => draftMarksOf(row)?.isReviewed === false;

/** What a row asks, as far as it is text. */
export const questionOf = ({ question }: TaskRow): string => (typeof question === 'string' ? question : '');
