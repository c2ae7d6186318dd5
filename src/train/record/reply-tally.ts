import { type AnswerTable, addAnswers } from '../../core/run/stage-answers.ts';
import { head } from '../../core/text/python-text.ts';

/** Enough to see what kind of reply it was. */
const SAMPLE_LENGTH = 200;

/** Counts the optimizer's replies by stage, until they are taken. */
export function createReplyTally() {
  let answers: AnswerTable = {};
  return {
    count(stage: string, unreadable?: string): void {
      const reply =
        unreadable === undefined
          ? { read: 1, unreadable: 0 }
          : { read: 0, unreadable: 1, sample: head(unreadable, SAMPLE_LENGTH) };
      answers = addAnswers(answers, { [stage]: reply });
    },
    take(): AnswerTable {
      const taken = answers;
      answers = {};
      return taken;
    },
  };
}
