// The public surface. Adding a line here is adding API; a test pins the list.

export type { AgentLimits } from './core/agent/agent-limits.ts';
export type {
  AgentRun,
  AgentRunner,
  AgentRunRequest,
  AgentStep,
  SkillPackage,
} from './core/agent/agent-runner.ts';
export type { RunCaches, TextCache } from './core/cache.ts';
export { parseConfig, SkillOptConfig, type SkillOptConfigInput } from './core/config.ts';
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
export {
  evaluateGate,
  type GateAction,
  type GateInput,
  type GateMetric,
  type GateResult,
  selectGateScore,
} from './core/gate/gate.ts';
export type { ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, Usage } from './core/model.ts';
export { PROMPT_NAMES, type PromptName, type PromptOverrides } from './core/prompt-name.ts';
export { PythonRandom, shuffle } from './core/random.ts';
export { RolloutResult } from './core/rollout-result.ts';
export type { RolloutAttempt, RolloutRunner } from './core/rollout-runner.ts';
export type { RunEvent, RunFact } from './core/run/event.ts';
export { toFact } from './core/run/event.ts';
export type { Progress, RunObserver } from './core/run/observer.ts';
export { reduce } from './core/run/reduce/reduce.ts';
export { emptyRun, type RunState } from './core/run/run-state.ts';
export type { OpenRunStore, RunStore, Views } from './core/run/run-store.ts';
export type { StageUsage } from './core/run/stage-usage.ts';
export type { Stage, StepAction } from './core/run/step-action.ts';
export type { StepRecord } from './core/run/step-record.ts';
export { type RunSummary, summarize } from './core/run/summary.ts';
export { buildScheduler, type LRScheduler, type LRSchedulerMode } from './core/schedule.ts';
export { type Bucket, computeScore, type Evaluation, type ItemScore } from './core/score.ts';
export {
  applyEdit,
  applyPatch,
  applyPatchWithReport,
  type EditReport,
  type EditStatus,
} from './core/skill/apply-edit.ts';
export { Edit, type EditOp, Patch, type RawPatch, type SourceType, type UpdateItem } from './core/skill/edit.ts';
export { skillHash } from './core/skill/skill-hash.ts';
export { extractJson } from './core/text/extract-json.ts';
export { SimpleQAEnv } from './envs/index.ts';
export { anthropicChat, fromAiSdk, openaiChat, openaiCompatible, scripted } from './models/index.ts';
export { runMinibatchReflect } from './pipeline/reflect/reflect.ts';
export { runRollout } from './pipeline/rollout/rollout.ts';
export { createStageDeps, type StageDeps } from './pipeline/stage-deps.ts';
export { mergePatches } from './pipeline/update/aggregate.ts';
export { rankAndSelect } from './pipeline/update/select.ts';
export { defineConfig, type ProjectConfig } from './project/project.ts';
export { memoryRun, runDirectory } from './stores/index.ts';
export { type EvaluateSkillOptions, evaluateSkill, type SkillScore } from './train/evaluate-skill.ts';
export { SkillOptTrainer } from './train/trainer.ts';
export type { TrainerOptions } from './train/trainer-options.ts';
