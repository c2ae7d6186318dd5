import { groupBy } from '../../core/text/index.ts';
import { sayingOf, topicOf } from './change.ts';
import { readExperience, readSteps } from './experience.ts';
import { newsAmong } from './rank-edits.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { editKey } from './wire-edit.ts';

/** The reply to the question how many changes to make: all that say something new, and half of them after a rejection. */
export function decideRate(prompt: OptimizerPrompt): object {
  const { tried, knowsRemarks } = readExperience(prompt);
  const news = newsAmong(prompt.edits, prompt.skill).filter(
    ({ edit }) => !tried.has(sayingOf(edit)) && !(knowsRemarks && topicOf(edit) === undefined),
  );
  const count = groupBy(news, ({ edit }) => editKey(edit)).length;
  const isRebuffed = readSteps(prompt.steps).at(-1)?.isRejected ?? false;
  return {
    learning_rate: isRebuffed ? Math.ceil(count / 2) : count,
    reasoning: `${count} of the changes say something new${isRebuffed ? '; the last step was rejected' : ''}.`,
    confidence: 'medium',
    risk_notes: [],
  };
}
