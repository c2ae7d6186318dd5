// The public surface. Adding a line here is adding API; a test pins the list.
export { applyEdit, applyPatch, applyPatchWithReport, type EditReport, type EditStatus } from './core/apply-edit.ts';
export type { RunCaches, TextCache } from './core/cache.ts';
export { parseConfig, SkillOptConfig, type SkillOptConfigInput } from './core/config.ts';
export { Edit, type EditOp, Patch, type RawPatch, type SourceType, type UpdateItem } from './core/edit.ts';
export {
  defineEnv,
  type EpochPlan,
  type Item,
  type ReflectContext,
  type RolloutContext,
  type RolloutManyContext,
  type RolloutOutput,
  type SkillEnv,
} from './core/env.ts';
export { type ErrorCode, ModelCallError, PromptTooLongError, SkillError } from './core/errors.ts';
export type { Progress, RunEvent, RunFact } from './core/event.ts';
export { toFact } from './core/event.ts';
export { extractJson } from './core/extract-json.ts';
export {
  evaluateGate,
  type GateAction,
  type GateInput,
  type GateMetric,
  type GateResult,
  selectGateScore,
} from './core/gate.ts';
export type { ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, Usage } from './core/model.ts';
export type { RunObserver } from './core/observer.ts';
export { PROMPT_NAMES, type PromptName, type PromptOverrides } from './core/prompt-name.ts';
export { PythonRandom, shuffle } from './core/random.ts';
export { RolloutResult } from './core/rollout-result.ts';
export { emptyRun, type RunState, type StepRecord } from './core/run-state.ts';
export type { OpenRunStore, RunStore, Views } from './core/run-store.ts';
export { buildScheduler, type LRScheduler, type LRSchedulerMode } from './core/schedule.ts';
export { type Bucket, computeScore, type Evaluation, type ItemScore } from './core/score.ts';
export { skillHash } from './core/skill-hash.ts';
export type { StageUsage } from './core/stage-usage.ts';
export { reduce } from './core/state.ts';
export type { Stage, StepAction } from './core/step-action.ts';
export { type RunSummary, summarize } from './core/summary.ts';
export { SimpleQAEnv } from './envs/index.ts';
export { anthropicChat, fromAiSdk, openaiChat, openaiCompatible, scripted } from './models/index.ts';
export { mergePatches } from './pipeline/aggregate.ts';
export { runMinibatchReflect } from './pipeline/reflect.ts';
export { runRollout } from './pipeline/rollout.ts';
export { rankAndSelect } from './pipeline/select.ts';
export { createStageDeps, type StageDeps } from './pipeline/stage-deps.ts';
export { memoryRun, runDirectory } from './stores/index.ts';
export { type EvaluateSkillOptions, evaluateSkill, type SkillScore } from './train/evaluate-skill.ts';
export { SkillOptTrainer, type TrainerOptions } from './train/trainer.ts';
