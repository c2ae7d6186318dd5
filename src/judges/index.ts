/** Scores by a model, for what no rule can score: asked several times, in both places, and missing when it fails. */
export { type AnswerJudgement, type JudgeAnswerInput, judgeAnswer } from './judge-answer.ts';
export type { JudgeSubject } from './judge-question.ts';
export { type JudgedOutputOptions, judgedOutput } from './judged-output.ts';
export { judgementsOf, SingleJudgement } from './single-judgement.ts';
