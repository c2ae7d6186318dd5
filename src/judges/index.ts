export {
  type AnswerJudgement,
  type JudgeAnswerInput,
  type JudgedOutputOptions,
  judgeAnswer,
  judgedOutput,
  judgementsOf,
  SingleJudgement,
} from './judge-answer.ts';
export type { JudgeSubject } from './judge-question.ts';
export { commandJudge, rubricJudge } from './task-judges.ts';
