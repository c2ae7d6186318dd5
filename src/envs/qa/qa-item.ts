import { z } from 'zod';
import { TaskJudge, type TaskJudgeInput } from '../../core/judge/index.ts';
import { isFilled, itemId } from '../read/parse-rows.ts';

const isNotEmpty = (list: readonly string[]) => list.length > 0;

const FILLED = 'must be non-empty text';
const FILLED_LIST = 'must be a non-empty list';

const filled = z.string(FILLED).refine(isFilled, FILLED);
/** A number is what a CSV file would have as text. */
const gold = z.union([filled, z.number().transform(String)], FILLED);
/** One answer need not stand in a list. Text that begins as a list is one that was not written well. */
const toList = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && isFilled(value) && !value.startsWith('['))
    ? [value]
    : value;
// A blank cell or a null says as little as a missing key.
const optionalText = z
  .string('must be text')
  .nullish()
  .transform((value) => (value == null || !isFilled(value) ? undefined : value));

const QaFields = z
  .object(
    {
      id: itemId,
      question: filled,
      answers: z.preprocess(toList, z.array(gold, FILLED_LIST).refine(isNotEmpty, FILLED_LIST).readonly().nullish()),
      answer: gold.nullish(),
      judge: TaskJudge.nullish(),
      context: optionalText,
      taskType: optionalText,
      task_type: optionalText,
    },
    'must be an object',
  )
  .transform(({ id, question, context, answers, answer, judge, task_type, taskType = task_type }, check) => {
    const golds = answers ?? (answer == null ? [] : [answer]);
    if (golds.length === 0 && !judge) check.addIssue({ code: 'custom', path: ['answers'], message: FILLED_LIST });
    return {
      id,
      question,
      answers: golds,
      ...(judge ? { judge } : {}),
      ...(context === undefined ? {} : { context }),
      ...(taskType === undefined ? {} : { taskType }),
    };
  });

/** An item with a judge that was read before has an empty list. */
function withoutEmptyAnswers(item: unknown): unknown {
  const { judge, answers, ...rest } = (item ?? {}) as { judge?: unknown; answers?: unknown };
  return judge && Array.isArray(answers) && answers.length === 0 ? { ...rest, judge } : item;
}

/**
 * A question with its gold answers, or with a judge, which decides where there is one. Also read: one gold without a list or as `answer`, the task type as `task_type`, and a number as
 * id. What is not listed here is dropped, so that it cannot change what the task is cached under.
 */
export const QaItem = z.preprocess(withoutEmptyAnswers, QaFields);
export type QaItem = z.output<typeof QaFields>;
export type QaItemInput = Omit<z.input<typeof QaFields>, 'answers' | 'judge'> & {
  readonly judge?: TaskJudgeInput | null | undefined;
  readonly answers?: string | number | readonly (string | number)[] | null | undefined;
};

/** What to say to someone whose task is not one. */
export const QA_ITEM_HINT =
  'A task is {"id": "q1", "question": "…", "answers": ["…"]}, and may have "context", "taskType" and "split"; in place of answers it may have a "judge".';
