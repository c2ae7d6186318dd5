/**
 * Scores for answers: by rules and references, by a model, which is asked several times and in both places, and by a
 * command. Missing when it fails, never zero. The whole room of judges by a model or a command is public.
 */

export {
  checkRuleJudge,
  type ExactScore,
  exactJudge,
  type FailedCheck,
  type JudgedAnswer,
  type JudgeKind,
  type JudgeOf,
  keywordScore,
  RULE_OPS,
  type RuleCheck,
  type RuleOp,
  type RuleProblems,
  type RuleScore,
  ruleJudge,
  scoreByRule,
  scoreExact,
  TaskJudge,
  type TaskJudgeInput,
  type TaskScorer,
} from '../core/judge/index.ts';
export * from '../judges/index.ts';
