import type { JudgeOf, TaskScorer } from '../core/judge/index.ts';
import { judgeAnswer } from './judge-answer.ts';
import { judgedOutput } from './judged-output.ts';

/** How often a model is asked about one answer; beside a reference, once in each place. */
const REPEATS = 2;

/**
 * By itself an answer must be good; beside a reference, as good as that. Of criteria all must be met, but a single no in one
 * judgement of the two is put down to the judge.
 */
function passMarkOf({ passMark, reference, criteria }: JudgeOf<'rubric'>): number {
  if (passMark !== undefined) return passMark;
  return criteria ? 1 - 0.75 / criteria.length : reference === undefined ? 0.8 : 0.5;
}

/** Tasks with a rubric, scored by the run's judge model. What it says and cannot be read is missing, and so is a score beyond 0 to 1. */
export function rubricJudge(): TaskScorer<'rubric'> {
  return {
    kind: 'rubric',
    version: '1',
    judgeCalls: () => REPEATS,
    async score({ judge, question, answer, model, signal }) {
      const { rubric = '', criteria, reference } = judge;
      const asked = { judge: model, question, answer, rubric, criteria, reference, repeats: REPEATS, signal };
      return judgedOutput(await judgeAnswer(asked), { passMark: passMarkOf(judge) });
    },
  };
}
