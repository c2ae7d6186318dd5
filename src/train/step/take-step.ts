import type { SkillOptConfig } from '../../core/config.ts';
import type { ReflectContext, SkillEnv } from '../../core/env.ts';
import type { RolloutResult } from '../../core/rollout-result.ts';
import { isAccepted } from '../../core/run/reduce/acceptance.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { withoutRejected } from '../../core/run/step-buffer.ts';
import { type Evaluation, toEvaluation } from '../../core/score.ts';
import type { Patch, RawPatch } from '../../core/skill/edit.ts';
import {
  decideLearningRate,
  evaluateCandidate,
  failurePatterns,
  type JudgedCandidate,
  type Memory,
  mergePatches,
  rankAndSelect,
  runMinibatchReflect,
  runRollout,
  type StageDeps,
  settleAll,
  updateSkill,
} from '../../pipeline/index.ts';
import { rolloutsLeft } from '../budget/rollouts-left.ts';
import type { Step } from '../plan.ts';
import type { Run } from '../run.ts';
import { memoryOf } from '../setup/memory-of.ts';
import { leakCriticOf } from './leak-critic-of.ts';
import { refuseLeaks } from './refuse-leaks.ts';
import { tryRemoval } from './try-removal.ts';
import { trySalvage } from './try-salvage.ts';
import { withoutRepeats } from './without-repeats.ts';

/** One step: rollout, reflect, aggregate, select, update, evaluate. */
export async function takeStep(state: RunState, plan: Step, run: Run): Promise<RunState> {
  const { config, env, items, commit, deps } = run;
  const { step } = plan;
  const { skill } = state.current;
  const { skillUpdateMode: mode, maxSkillTokens, mergeBatchSize } = config;
  const memory = memoryOf(state, config);
  await commit({ type: 'step-start', ...describe(plan) });

  const results = await runRollout(
    { env, skill, items: plan.batches.flatMap((batch) => batch.items), phase: 'train' },
    deps,
  );
  const evaluation = toEvaluation(results);
  await commit({ type: 'stage-end', step, stage: 'rollout', evaluation }, { results });

  const patches = await reflectOnBatches(plan, results, { config, env, skill, memory }, deps);
  const patterns = failurePatterns(results, patches);
  await commit({ type: 'stage-end', step, stage: 'reflect', patches, failurePatterns: patterns });

  const merged = await mergePatches({ skill, patches, mergeBatchSize, mode, memory }, deps);
  await commit({ type: 'stage-end', step, stage: 'aggregate', patch: merged });

  const { patch: news, ...repeated } = config.dropRepeats ? withoutRepeats(merged, skill) : { patch: merged };
  const untried = config.retryRejectedEdits ? news : withoutTried(news, memory);
  const editBudget = await chooseBudget(plan, { skill, patch: untried, evaluation, memory }, run);
  const ranked = await rankAndSelect({ skill, patch: untried, editBudget, mode, memory }, deps);
  const readForLeaks = leakCriticOf({ items, config }, skill);
  const { patch, ...leaks } = refuseLeaks(ranked, readForLeaks);
  await commit({ type: 'stage-end', step, stage: 'select', patch, ...leaks, ...repeated });

  const { skillAwareConsolidateThreshold: consolidateThreshold } = config;
  const candidate = await updateSkill(
    { skill, patch, mode, memory, maxSkillTokens, patches, consolidateThreshold, readForLeaks },
    deps,
  );
  const updated = await commit({ type: 'stage-end', step, stage: 'update', ...candidate });

  const { results: evidence, ...verdict } = await evaluateCandidate(
    {
      env,
      candidate,
      state: updated,
      items: items.val,
      config,
      seed: plan.batches[0]!.seed,
      rolloutsLeft: rolloutsLeft(updated, config, items),
    },
    deps,
  );
  const judged = await commit({ type: 'stage-end', step, stage: 'evaluate', ...verdict }, { results: evidence });

  const action = await trySalvage(judged, { step, patch, ...ruling(verdict) }, run);
  if (!isAccepted(action)) await tryRemoval(judged, plan, run);
  return commit({ type: 'step-end', step, action });
}

/** An invalid evaluation rejects, and says nothing about the edits. */
function ruling({ action, decision, invalidReason }: Omit<JudgedCandidate, 'results'>) {
  return { action, isInvalid: decision?.verdict === 'invalid' || invalidReason !== undefined };
}

function describe({ batches, ...plan }: Step) {
  const itemIds = batches.flatMap((batch) => batch.items.map((item) => item.id));
  const sizes = batches.map(({ seed, items }) => ({ seed, size: items.length }));
  return { ...plan, seed: batches[0]!.seed, itemIds, ...(batches.length > 1 ? { batches: sizes } : {}) };
}

type Context = {
  readonly config: SkillOptConfig;
  readonly env: SkillEnv;
  readonly skill: string;
  readonly memory: Memory;
};

/** Each batch is shuffled with its own seed; all are read at the same time. */
async function reflectOnBatches(
  { batches, editBudget, proposal = 1 }: Step,
  results: readonly RolloutResult[],
  { config, env, skill, memory }: Context,
  deps: StageDeps,
): Promise<RawPatch[]> {
  const { minibatchSize, failureOnly, skillUpdateMode: mode } = config;
  const notesFrom = config.useSkillAwareReflection ? config.skillAwareAppendixSource : ('nobody' as const);
  const settings = { minibatchSize, editBudget, failureOnly, mode, memory, notesFrom } as const;
  const left = [...results];
  const reading = batches.map(({ seed, items }) => {
    const batch = { skill, results: left.splice(0, items.length), seed, sampleIndex: proposal - 1 };
    return reflect(env, { ...batch, editBudget }, () => runMinibatchReflect({ ...batch, ...settings }, deps), deps);
  });
  return (await settleAll(reading)).flat();
}

type Lesson = Pick<ReflectContext, 'results' | 'skill' | 'editBudget' | 'seed' | 'sampleIndex'>;

/** An environment may have analysts of its own. */
async function reflect(
  env: SkillEnv,
  lesson: Lesson,
  reflectByDefault: () => Promise<RawPatch[]>,
  { optimizer, stop }: StageDeps,
): Promise<RawPatch[]> {
  if (!env.reflect) return reflectByDefault();
  const proposals = await env.reflect({ ...lesson, optimizer, reflectByDefault, signal: stop.abandon });
  return proposals.filter((proposal) => proposal !== null);
}

const withoutTried = (patch: Patch, { stepBuffer }: Memory): Patch => {
  return { ...patch, edits: withoutRejected(patch.edits, stepBuffer) };
};

type Proposed = {
  readonly skill: string;
  readonly patch: Patch;
  readonly evaluation: Evaluation;
  readonly memory: Memory;
};

/** The step's budget, or what the optimizer wants when it has the say. */
async function chooseBudget(
  { step, editBudget }: Step,
  { skill, patch, evaluation, memory }: Proposed,
  { config, commit, deps }: Run,
): Promise<number | null> {
  if (config.lrControlMode !== 'autonomous' || editBudget === null) return editBudget;
  const decision = await decideLearningRate({ skill, patch, evaluation, memory }, deps);
  await commit({ type: 'lr-decision', step, ...decision });
  return decision.learningRate;
}
