import {
  type Evaluation,
  type ReflectContext,
  type RolloutResult,
  type SkillEnv,
  toEvaluation,
} from '../../core/contracts/index.ts';
import { type EditPolicy, type Patch, policyOf, type RawPatch } from '../../core/document/index.ts';
import type { LeakCritic } from '../../core/guard/index.ts';
import { isAccepted, type RunState, withoutRejected } from '../../core/run/index.ts';
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
import { memoryOf, type Run } from '../run.ts';
import { tryRemoval, trySalvage } from './after-rejection.ts';
import { leakCriticOf, refuseLeaks, unusableBeside, withoutRepeats } from './guard-edits.ts';

/** What every stage of a step works with. */
type StepWork = {
  readonly plan: Step;
  readonly skill: string;
  readonly memory: Memory;
  /** What its edits may change, where that is not the body of one document. */
  readonly policy: EditPolicy | undefined;
  /** Whether a text gives held-out tasks away that the skill does not. */
  readonly readForLeaks: LeakCritic;
  readonly run: Run;
};

/** One step: rollout, reflect, aggregate, select, update, evaluate; then what may be saved of it, or done without. */
export async function takeStep(state: RunState, plan: Step, run: Run): Promise<RunState> {
  const { skill } = state.current;
  const memory = memoryOf(state, run.config);
  const policy = policyOf(run.config, plan.step);
  const work = { plan, skill, memory, policy, readForLeaks: leakCriticOf(run, skill), run };
  await run.commit({ type: 'step-start', ...describe(plan) });
  const results = await rollOutBatches(work);
  const patches = await reflectOnResults(results, work);
  const merged = await aggregatePatches(patches, work);
  const patch = await selectEdits(merged, toEvaluation(results), work);
  const { candidate, updated } = await updateDocument(patch, patches, work);
  const { ruling, judged } = await evaluateUpdate(candidate, updated, work);
  const action = await trySalvage(judged, { step: plan.step, patch, ...ruling }, run);
  if (!isAccepted(action)) await tryRemoval(judged, plan, run);
  return run.commit({ type: 'step-end', step: plan.step, action });
}

async function rollOutBatches({ plan: { step, batches }, skill, run }: StepWork): Promise<RolloutResult[]> {
  const { env, commit, deps } = run;
  const items = batches.flatMap((batch) => batch.items);
  const results = await runRollout({ env, skill, items, phase: 'train' }, deps);
  await commit({ type: 'stage-end', step, stage: 'rollout', evaluation: toEvaluation(results) }, { results });
  return results;
}

async function reflectOnResults(results: readonly RolloutResult[], work: StepWork): Promise<RawPatch[]> {
  const patches = await reflectOnBatches(results, work);
  const patterns = failurePatterns(results, patches);
  const { plan, run } = work;
  await run.commit({ type: 'stage-end', step: plan.step, stage: 'reflect', patches, failurePatterns: patterns });
  return patches;
}

async function aggregatePatches(patches: readonly RawPatch[], work: StepWork): Promise<Patch> {
  const { plan, skill, memory, policy, run } = work;
  const { mergeBatchSize, skillUpdateMode: mode } = run.config;
  const patch = await mergePatches({ skill, patches, mergeBatchSize, mode, memory, policy }, run.deps);
  await run.commit({ type: 'stage-end', step: plan.step, stage: 'aggregate', patch });
  return patch;
}

/** What is left of the merged edits without those that say nothing new, were tried, rank low, or give tasks away. */
async function selectEdits(merged: Patch, evaluation: Evaluation, work: StepWork): Promise<Patch> {
  const { plan, skill, memory, readForLeaks, run } = work;
  const { config, commit, deps } = run;
  const { patch: news, ...repeated } = config.dropRepeats
    ? withoutRepeats(merged, skill, work.policy)
    : { patch: merged };
  const untried = config.retryRejectedEdits ? news : withoutTried(news, memory);
  const editBudget = await chooseBudget(untried, evaluation, work);
  const mode = config.skillUpdateMode;
  const ranked = await rankAndSelect({ skill, patch: untried, editBudget, mode, memory }, deps);
  const { patch, ...leaks } = refuseLeaks(ranked, readForLeaks);
  await commit({ type: 'stage-end', step: plan.step, stage: 'select', patch, ...leaks, ...repeated });
  return patch;
}

async function updateDocument(patch: Patch, patches: readonly RawPatch[], work: StepWork) {
  const { plan, skill, memory, policy, readForLeaks, run } = work;
  const { config, commit, deps } = run;
  const { skillUpdateMode: mode, maxSkillTokens, skillAwareConsolidateThreshold: consolidateThreshold } = config;
  const candidate = await updateSkill(
    { skill, patch, mode, policy, memory, maxSkillTokens, patches, consolidateThreshold, readForLeaks },
    deps,
  );
  const updated = await commit({ type: 'stage-end', step: plan.step, stage: 'update', ...candidate });
  return { candidate, updated };
}

type Candidate = Parameters<typeof evaluateCandidate>[0]['candidate'];

async function evaluateUpdate(candidate: Candidate, state: RunState, { plan, run }: StepWork) {
  const { env, items, config, commit, deps } = run;
  const race = { env, state, items: items.val, config, seed: plan.batches[0]!.seed };
  const whyUnusable = unusableBeside(state.current.skill, run);
  const room = { rolloutsLeft: rolloutsLeft(state, config, items), whyUnusable };
  const { results, ...verdict } = await evaluateCandidate({ candidate, ...race, ...room }, deps);
  const judged = await commit({ type: 'stage-end', step: plan.step, stage: 'evaluate', ...verdict }, { results });
  return { judged, ruling: toRuling(verdict) };
}

/** An invalid evaluation rejects, and says nothing about the edits. */
function toRuling({ action, decision, invalidReason }: Omit<JudgedCandidate, 'results'>) {
  return { action, isInvalid: decision?.verdict === 'invalid' || invalidReason !== undefined };
}

function describe({ batches, ...plan }: Step) {
  const itemIds = batches.flatMap((batch) => batch.items.map((item) => item.id));
  const sizes = batches.map(({ seed, items }) => ({ seed, size: items.length }));
  return { ...plan, seed: batches[0]!.seed, itemIds, ...(batches.length > 1 ? { batches: sizes } : {}) };
}

/** Each batch is shuffled with its own seed; all are read at the same time. */
async function reflectOnBatches(results: readonly RolloutResult[], work: StepWork): Promise<RawPatch[]> {
  const { plan, skill, memory, policy, run } = work;
  const { batches, editBudget, proposal = 1 } = plan;
  const { config, env, deps } = run;
  const { minibatchSize, failureOnly, skillUpdateMode: mode } = config;
  const notesFrom = config.useSkillAwareReflection ? config.skillAwareAppendixSource : ('nobody' as const);
  const { surroundings } = env;
  const settings = { minibatchSize, editBudget, failureOnly, mode, policy, memory, notesFrom, surroundings } as const;
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

/** The step's budget, or what the optimizer wants when it has the say. */
async function chooseBudget(patch: Patch, evaluation: Evaluation, work: StepWork): Promise<number | null> {
  const { plan, skill, memory, run } = work;
  const { config, commit, deps } = run;
  if (config.lrControlMode !== 'autonomous' || plan.editBudget === null) return plan.editBudget;
  const decision = await decideLearningRate({ skill, patch, evaluation, memory }, deps);
  await commit({ type: 'lr-decision', step: plan.step, ...decision });
  return decision.learningRate;
}
