export { askForJson, type OptimizerStage, repairJson } from './ask/ask.ts';
export { loadPackagePrompts, loadPrompts } from './ask/prompts.ts';
export { compareEpochs, type Memory, writeGuidance, writeMetaSkill } from './epoch/memory.ts';
export type {
  AcceptanceRule,
  GateAttempt,
  GateRound,
  GateRuling,
  RuleContext,
  RuleEvidence,
} from './evaluate/acceptance-rule.ts';
export { evaluateCandidate, judgeSkill, scorePasses, scoreSkill } from './evaluate/evaluate.ts';
export { pruneSkill, salvagePatch, withoutPassageIn } from './evaluate/leave-out.ts';
export { gateScore } from './evaluate/pass-verdict.ts';
export { exactRule, pairedRule, strictRule } from './evaluate/rules.ts';
export { failurePatterns, type Reflection, reflectByGroup, runMinibatchReflect } from './reflect/reflect.ts';
export { requireScores, whyUnscored } from './rollout/require-scores.ts';
export { runRollout } from './rollout/rollout.ts';
export type { RolloutCache } from './rollout/rollout-memory.ts';
export { rolloutKey } from './rollout/rollout-memory.ts';
export {
  countedTogether,
  createLimit,
  createStageDeps,
  createStop,
  inPhase,
  type StageDeps,
  type Stop,
  settleAll,
  stageSettings,
} from './stage-deps.ts';
export { mergeByGroup, mergePatches, type PatchGroup } from './update/aggregate.ts';
export { decideLearningRate, rankAndSelect } from './update/select.ts';
export { fits, readFirst, surelyFits, updateSkill } from './update/update.ts';
