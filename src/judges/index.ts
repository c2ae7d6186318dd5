export {
  type AnswerJudgement,
  type JudgeAnswerInput,
  type JudgedOutputOptions,
  type JudgeSubject,
  judgeAnswer,
  judgedOutput,
  judgementsOf,
  SingleJudgement,
} from './judge-answer.ts';
export { commandJudge, rubricJudge } from './task-judges.ts';
