export { commandJudge } from './command-judge.ts';
export { type AnswerJudgement, type JudgeAnswerInput, judgeAnswer } from './judge-answer.ts';
export type { JudgeSubject } from './judge-question.ts';
export { type JudgedOutputOptions, judgedOutput } from './judged-output.ts';
export { rubricJudge } from './rubric-judge.ts';
export { judgementsOf, SingleJudgement } from './single-judgement.ts';
