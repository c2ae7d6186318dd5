import { z } from 'zod';

/** Something that a user might say, and whether the skill is for it. */
export const TriggerQuery = z.preprocess(
  (value) => {
    if (typeof value !== 'object' || value === null || !('should_trigger' in value)) return value;
    const { should_trigger: shouldTrigger, ...rest } = value;
    return { ...rest, shouldTrigger };
  },
  z.strictObject({
    id: z.coerce.string().min(1),
    query: z.string('must be text').min(1, 'must be non-empty text'),
    shouldTrigger: z.boolean('must be true or false'),
  }),
);
export type TriggerQuery = z.output<typeof TriggerQuery>;

export const TRIGGER_QUERY_HINT =
  'A query is a line such as {"query": "Fill in this PDF form", "should_trigger": true}.';

/** Groups of a report: how many are found that should be, and how many are left alone that should be. */
export const kindOf = ({ shouldTrigger }: Pick<TriggerQuery, 'shouldTrigger'>) =>
  shouldTrigger ? 'should load it' : 'should not load it';
