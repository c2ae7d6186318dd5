export { ChecksJudge } from './checks.ts';
export {
  checksJudge,
  containsJudge,
  type ExactScore,
  exactJudge,
  type FailedCheck,
  jsonSchemaJudge,
  keywordScore,
  modelChecks,
  numberJudge,
  type RuleScore,
  readNumber,
  regexJudge,
  ruleJudge,
  scoreByRule,
  scoreExact,
} from './judges.ts';
export { fromJsPattern } from './regex/js-pattern.ts';
export { searchPattern } from './regex/python-regex.ts';
export { checkRuleJudge, RULE_OPS, type RuleCheck, type RuleOp, type RuleProblems } from './rule-operators.ts';
export { fillScoring, needsAnswers, Scoring } from './scoring.ts';
export {
  type JudgedAnswer,
  type JudgeKind,
  type JudgeOf,
  TaskJudge,
  type TaskJudgeInput,
  type TaskScorer,
} from './task-judge.ts';
export {
  Assertion,
  Command,
  ON_VERIFIER_CRASH,
  type OnVerifierCrash,
  Verify,
  WORKSPACE_TASK_HINT,
  WorkspaceTask,
  type WorkspaceTaskInput,
} from './workspace-task.ts';
