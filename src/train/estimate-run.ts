import { knowsNoise, type SkillOptConfig } from '../core/contracts/index.ts';
import { isFullRewrite } from '../core/document/index.ts';
import type { OptimizerStage } from '../pipeline/index.ts';
import type { Range } from '../report/index.ts';
import { finalPassesOf, secondPassSize } from './budget/rollouts-left.ts';
import { batchSizes, countSteps, stepLimit } from './plan.ts';
import { LEAST_TO_SHORTEN, MOST_SHORTER } from './shorten.ts';
import { canTryWithout } from './step/candidate-gate.ts';

export type StageEstimate = Readonly<Record<'calls' | 'inputTokens' | 'outputTokens', Range>> & {
  readonly stage: 'mine' | 'rollout' | 'judge' | OptimizerStage;
  readonly role: 'target' | 'optimizer' | 'judge';
};

export type EstimateInput = {
  readonly config: SkillOptConfig;
  /** How often each rollout asks a model that scores it; 0 where a rule does. */
  readonly judgeCalls?: number;
  /** How often an attempt asks the target. Default: once. */
  readonly targetCalls?: Range;
  /** Whether the environment divides the training tasks itself: into what is unknown. */
  readonly hasOwnPlan?: boolean;
  readonly items: { readonly train: number; readonly val: number; readonly test: number };
  /** Tokens of the texts that prompts are made of: counted, except for replies, which are assumed. */
  readonly tokens: {
    readonly skill: number;
    /** What the target reads after the skill. */
    readonly skillFiles?: number;
    readonly item: number;
    readonly optimizerPrompt: number;
    readonly targetReply: number;
    readonly optimizerReply: number;
    /** What one edit adds to the skill. */
    readonly edit: number;
  };
};

/**
 * What a run will ask of its models, stage by stage. The low end is a run that finds nothing
 * to change though there is something to gain: unchanged candidates are not measured, known rollouts not repeated, and a
 * batch that gave nothing is not read again. The high end has a new candidate at every step.
 */
export function estimateRun(input: EstimateInput): StageEstimate[] {
  const { config, items, tokens, judgeCalls = 0, targetCalls, hasOwnPlan = false } = input;
  const steps = mostSteps(config, items);
  const perStep = config.accumulation * minibatches(config, Math.min(config.batchSize, items.train)).high;
  const analysts =
    config.maxRollouts === undefined ? analystsOf(config, items.train, hasOwnPlan) : { low: 0, high: steps * perStep }; // as many steps as are paid for, which is a guess
  const trajectory = tokens.item + tokens.targetReply;
  const minibatch = Math.min(config.minibatchSize, config.batchSize, items.train) * trajectory;
  const patches = config.mergeBatchSize * tokens.optimizerReply;
  const { optimizerPrompt: prompt, optimizerReply: reply } = tokens;
  // The skill grows by its edits, and is half as much longer in the mean of a run as at its end.
  const skill = { low: tokens.skill, high: tokens.skill + (steps * config.editBudget * tokens.edit) / 2 };
  const attempts = rollouts(config, items, { steps, hasOwnPlan });
  return [
    ...estimateAttempts(attempts, skill, { tokens, judgeCalls, ...(targetCalls && { targetCalls }) }),
    toEstimate('analyst', analysts, add(skill, prompt + minibatch), reply),
    toEstimate('merge', scale(merges(config, perStep), steps), add(skill, prompt + patches), reply),
    ...stepExtras({ config, steps, skill: add(skill, prompt + reply), tokens }),
    ...epochEnds({ config, steps, skill: add(skill, tokens.skill + prompt), tokens, trajectory }),
  ];
}

type AttemptSize = Pick<EstimateInput, 'judgeCalls' | 'targetCalls'> & {
  readonly tokens: Omit<EstimateInput['tokens'], 'optimizerPrompt'>;
};

/** What attempts ask of the target, and of the model that scores them. `skill` is in tokens. */
export function estimateAttempts(
  attempts: Range,
  skill: Range,
  { tokens, judgeCalls = 0, targetCalls = { low: 1, high: 1 } }: AttemptSize,
): StageEstimate[] {
  const { item, skillFiles = 0, targetReply } = tokens;
  const judged = item + targetReply + JUDGE_PROMPT;
  return [
    toEstimate('rollout', times(attempts, targetCalls), add(skill, item + skillFiles), targetReply),
    ...(judgeCalls > 0
      ? [toEstimate('judge', scale(attempts, judgeCalls), { low: judged, high: judged }, JUDGE_REPLY)]
      : []),
  ];
}

/** Where rollouts are limited it is a guess; but steps that make none may fill all epochs. */
function mostSteps(config: SkillOptConfig, { train, val }: EstimateInput['items']): number {
  const batches = Math.ceil(train / (config.batchSize * config.accumulation));
  return Math.min(stepLimit(config, train, val), Math.max(countSteps(config, train, val), config.numEpochs * batches));
}

type Extras = Pick<EstimateInput, 'config' | 'tokens'> & { readonly steps: number; readonly skill: Range };

function stepExtras({ config, steps, skill, tokens }: Extras): StageEstimate[] {
  const { lrControlMode, lrScheduler, skillUpdateMode, useSkillAwareReflection } = config;
  const { optimizerReply: reply } = tokens;
  const atMost = { low: 0, high: steps };
  const isUnlimited = lrControlMode === 'none' || (lrControlMode === 'fixed' && lrScheduler === 'autonomous');
  const isRanked = !isUnlimited && !isFullRewrite(skillUpdateMode);
  return [
    ...(lrControlMode === 'autonomous' ? [toEstimate('lr_autonomous', atMost, skill, reply / 4)] : []),
    ...(isRanked ? [toEstimate('ranking', atMost, skill, reply / 4)] : []),
    ...(skillUpdateMode === 'rewrite_from_suggestions' ? [toEstimate('rewrite', atMost, skill, skill.high)] : []),
    ...(useSkillAwareReflection && config.skillAwareConsolidateThreshold > 0
      ? [toEstimate('appendix_consolidate', atMost, skill, reply / 2)]
      : []),
  ];
}

/** The first epoch has nothing to compare, and the last writes no notes. */
function epochEnds({ config, skill, tokens, trajectory }: Extras & { readonly trajectory: number }): StageEstimate[] {
  const { numEpochs, slowUpdateSamples, useSlowUpdate, useMetaSkill } = config;
  const pairs = 2 * slowUpdateSamples * trajectory;
  const input = { low: skill.low, high: skill.high + pairs };
  // Where nothing changed, the same question is asked once: the cache knows the reply.
  const calls = (count: number) => ({ low: count > 0 ? 1 : 0, high: Math.max(0, count) });
  return [
    ...(useSlowUpdate ? [toEstimate('slow_update', calls(numEpochs - 1), input, tokens.optimizerReply / 2)] : []),
    ...(useMetaSkill ? [toEstimate('meta_skill', calls(numEpochs - 2), input, tokens.optimizerReply / 2)] : []),
  ];
}

/** Guesses: an environment's rubric is unknown. */
const JUDGE_PROMPT = 300;
const JUDGE_REPLY = 100;

type Plan = { readonly steps: number; readonly hasOwnPlan: boolean };

/** The baseline, every step's batch and evaluation, comparisons at the ends of epochs, and the tests. */
function rollouts(config: SkillOptConfig, items: EstimateInput['items'], plan: Plan): Range {
  const { val } = items;
  const test = config.evalTest ? items.test : 0;
  const finalPasses = finalPassesOf(config, { val: { length: val } });
  const baseline = val + secondPassSize(config, { val: { length: val } });
  const isSure = !plan.hasOwnPlan && config.maxRollouts === undefined; // that all training tasks are attempted
  const low = baseline + val * finalPasses + (isSure ? items.train : 0);
  const afterwards = val * (config.prune ? plan.steps * config.editBudget : 0);
  const search = searchRollouts(config, items, plan);
  const limit = config.maxRollouts ?? Number.POSITIVE_INFINITY;
  return {
    low: Math.min(low, limit) + test,
    high: Math.min(baseline + search + val * finalPasses, Math.max(limit, baseline)) + afterwards + 3 * test,
  };
}

function searchRollouts(config: SkillOptConfig, { train, val }: EstimateInput['items'], { steps }: Plan): number {
  const { proposalsPerBatch, numEpochs } = config;
  const ofEpoch = batchSizes(config, train).reduce((sum, size) => sum + size, 0);
  const isPaired = knowsNoise(config.gate) && config.useGate;
  const taken = Math.ceil(steps / proposalsPerBatch);
  const removals = isPaired && config.tryRemovals ? taken : 0;
  // The gate that knows noise may ask a candidate twice, and each skill that it takes twice more.
  const perCandidate = isPaired ? 2 : 1;
  const isShortened = config.tryShorter && canTryWithout(config) && val >= LEAST_TO_SHORTEN;
  const shorter = isShortened ? 2 * MOST_SHORTER : 0; // both sides
  const known = isPaired ? 2 * (1 + taken + removals) : 0;
  const guidance = config.useSlowUpdate ? numEpochs - 1 : 0;
  const candidates = steps + salvages(config, val, steps) + removals + guidance;
  const perBatch = removals > 0 && proposalsPerBatch > 1 ? 2 : 1; // again after a removal, under another skill
  const measured = perCandidate * candidates + known + shorter;
  return val * measured + perBatch * ofEpoch * numEpochs + comparisons(config, train);
}

/** In validations. */
function salvages({ salvage, salvageRollouts }: SkillOptConfig, val: number, steps: number): number {
  return salvage ? steps * Math.ceil((salvageRollouts || 2 * val) / val) : 0;
}

/** Two sides of each task. A policy that wants changed tasks alone may have to look at all. */
function comparisons(config: SkillOptConfig, train: number): number {
  const { numEpochs, useSlowUpdate, useMetaSkill, slowUpdateSamples, longitudinalPairPolicy } = config;
  if (!useSlowUpdate && !useMetaSkill) return 0;
  const sampled = longitudinalPairPolicy === 'changed' ? train : Math.min(slowUpdateSamples, train);
  return 2 * sampled * Math.max(0, numEpochs - 1);
}

/**
 * What is drawn again to fill the last step may be what was read before, and one or two tasks come in the same order again:
 * the cache knows such questions.
 */
function analystsOf(config: SkillOptConfig, train: number, hasOwnPlan: boolean): Range {
  const each = batchSizes(config, train).map((size) => minibatches(config, size));
  const divided = hasOwnPlan ? [] : each.slice(0, Math.ceil(train / config.batchSize));
  const epochs = { low: train > 2 ? config.numEpochs : 1, high: config.numEpochs };
  return {
    low: epochs.low * divided.reduce((sum, { low }) => sum + low, 0),
    high: epochs.high * config.proposalsPerBatch * each.reduce((sum, { high }) => sum + high, 0),
  };
}

/** A batch is divided into failures and successes, so that one more minibatch may be needed. */
function minibatches({ minibatchSize, failureOnly }: SkillOptConfig, batch: number): Range {
  const low = Math.ceil(batch / minibatchSize);
  return failureOnly ? { low: 0, high: low } : { low, high: low + (batch > 1 ? 1 : 0) };
}

/** Level by level until one patch is left, and once more if both groups have one. */
function merges({ mergeBatchSize, failureOnly }: SkillOptConfig, patches: number): Range {
  let calls = 0;
  for (let left = patches; left > 1; left = Math.ceil(left / mergeBatchSize)) calls += Math.ceil(left / mergeBatchSize);
  return { low: 0, high: calls + (failureOnly ? 0 : 1) };
}

const add = ({ low, high }: Range, amount: number): Range => ({ low: low + amount, high: high + amount });
const times = (one: Range, other: Range): Range => ({ low: one.low * other.low, high: one.high * other.high });

const scale = ({ low, high }: Range, factor: number): Range => ({ low: low * factor, high: high * factor });

function toEstimate(stage: StageEstimate['stage'], calls: Range, input: Range, output: number): StageEstimate {
  const role = stage === 'rollout' ? 'target' : stage === 'judge' ? 'judge' : 'optimizer';
  const rounded = ({ low, high }: Range): Range => ({ low: Math.round(low), high: Math.round(high) });
  const inputTokens = rounded({ low: calls.low * input.low, high: calls.high * input.high });
  const whole = { low: Math.floor(calls.low), high: Math.ceil(calls.high) }; // a task may be judged by 1.5 calls in the mean
  return { stage, role, calls: whole, inputTokens, outputTokens: rounded(scale(calls, output)) };
}
