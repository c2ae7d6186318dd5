/**
 * Scores for answers: by rules and references, by a model, which is asked several times and in both places, and by a
 * command. Missing when it fails, never zero.
 */
export { checkRuleJudge, type RuleProblems } from '../core/judge/check-rules.ts';
export { type ExactScore, exactJudge, keywordScore, scoreExact } from '../core/judge/exact-judge.ts';
export { type FailedCheck, type RuleScore, ruleJudge, scoreByRule } from '../core/judge/rule-judge.ts';
export { RULE_OPS, type RuleCheck, type RuleOp } from '../core/judge/rule-operators.ts';
export {
  type JudgedAnswer,
  type JudgeKind,
  type JudgeOf,
  TaskJudge,
  type TaskJudgeInput,
  type TaskScorer,
} from '../core/judge/task-judge.ts';
export { commandJudge } from './command-judge.ts';
export { type AnswerJudgement, type JudgeAnswerInput, judgeAnswer } from './judge-answer.ts';
export type { JudgeSubject } from './judge-question.ts';
export { type JudgedOutputOptions, judgedOutput } from './judged-output.ts';
export { rubricJudge } from './rubric-judge.ts';
export { judgementsOf, SingleJudgement } from './single-judgement.ts';
