export { askForJson, type OptimizerStage, repairJson } from './ask/ask.ts';
export { loadPackagePrompts, loadPrompts } from './ask/prompts.ts';
export type { Memory } from './epoch/memory.ts';
export { compareEpochs, writeGuidance, writeMetaSkill } from './epoch/slow-update.ts';
export { evaluateCandidate, gateScore, judgeSkill, scorePasses, scoreSkill } from './evaluate/evaluate.ts';
export { pruneSkill, salvagePatch, withoutPassageIn } from './evaluate/leave-out.ts';
export { failurePatterns, runMinibatchReflect } from './reflect/reflect.ts';
export { requireScores, whyUnscored } from './rollout/require-scores.ts';
export { runRollout } from './rollout/rollout.ts';
export {
  createLimit,
  createStageDeps,
  createStop,
  type RolloutCache,
  type StageDeps,
  type Stop,
  settleAll,
  stageSettings,
} from './stage-deps.ts';
export { mergePatches } from './update/aggregate.ts';
export { decideLearningRate, rankAndSelect } from './update/select.ts';
export { readFirst, updateSkill } from './update/update.ts';
