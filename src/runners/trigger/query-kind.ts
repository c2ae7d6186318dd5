import type { TriggerQuery } from './trigger-queries.ts';

/** The groups of a report. */
export const kindOf = ({ shouldTrigger }: Pick<TriggerQuery, 'shouldTrigger'>) =>
  shouldTrigger ? 'should load it' : 'should not load it';
