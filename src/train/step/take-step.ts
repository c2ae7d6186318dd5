import { type Evaluation, type ReflectContext, type RolloutResult, toEvaluation } from '../../core/contracts/index.ts';
import {
  type EditPolicy,
  type Patch,
  partOf,
  policyOf,
  type RawPatch,
  trainsPackage,
} from '../../core/document/index.ts';
import type { LeakCritic } from '../../core/guard/index.ts';
import {
  isAccepted,
  keptEdits,
  lostSteps,
  type RunState,
  removalKey,
  type StepAction,
  type StepRecord,
  TRIAL_FOLDERS,
  type TrialAttempts,
  withoutRejected,
} from '../../core/run/index.ts';
import { skillHash } from '../../core/text/index.ts';
import {
  decideLearningRate,
  evaluateCandidate,
  failurePatterns,
  inPhase,
  judgeSkill,
  type Memory,
  mergeByGroup,
  mergePatches,
  type PatchGroup,
  type Reflection,
  rankAndSelect,
  reflectByGroup,
  runRollout,
  type StageDeps,
  salvagePatch,
  settleAll,
  updateSkill,
  withoutPassageIn,
} from '../../pipeline/index.ts';
import { rolloutsLeft } from '../budget/rollouts-left.ts';
import { isDoubted, type Step } from '../plan.ts';
import { memoryOf, type Run } from '../run.ts';
import { candidateGate, canTryWithout } from './candidate-gate.ts';
import { leakCriticOf, refuseLeaks, withoutRepeats } from './guard-edits.ts';

/** What every stage of a step works with. */
type StepWork = {
  readonly plan: Step;
  readonly skill: string;
  readonly memory: Memory;
  /** What edits may change, unless that is the body of one document. */
  readonly policy: EditPolicy | undefined;
  readonly readForLeaks: LeakCritic;
  readonly run: Run;
};

/** One step: rollout, reflect, aggregate, select, update, evaluate. A rejected patch may be saved in part; or the skill is tried with less. */
export async function takeStep(state: RunState, plan: Step, run: Run): Promise<RunState> {
  const { skill } = state.current;
  const [memory, policy] = [memoryOf(state, run.config), policyOf(run.config, plan.step)];
  const work = { plan, skill, memory, policy, readForLeaks: leakCriticOf(run, skill), run };
  await run.commit({ type: 'step-start', ...describeStep(plan) });
  const results = await rollOutBatches(work);
  const patches = await reflectOnResults(results, work);
  const merged = await aggregatePatches(patches, work);
  const patch = await selectEdits(merged, toEvaluation(results), work);
  const { candidate, updated } = await updateDocument(patch, patches, work);
  const { judged, ...verdict } = await evaluateUpdate(candidate, updated, work);
  const action = await trySalvage(judged, { patch, ...verdict }, work);
  if (!isAccepted(action)) await tryRemoval(judged, plan, run);
  return run.commit({ type: 'step-end', step: plan.step, action });
}

function describeStep({ batches, ...plan }: Step) {
  const itemIds = batches.flatMap((batch) => batch.items.map((item) => item.id));
  const sizes = batches.map(({ seed, items }) => ({ seed, size: items.length }));
  return { ...plan, seed: batches[0]!.seed, itemIds, ...(batches.length > 1 ? { batches: sizes } : {}) };
}

async function rollOutBatches({ plan, skill, run }: StepWork): Promise<RolloutResult[]> {
  const { step } = plan;
  const results = await run.ahead.join(`rollout ${step}`, (deps) => rollOutStep(plan, skill, run, deps));
  await run.commit({ type: 'stage-end', step, stage: 'rollout', evaluation: toEvaluation(results) }, { results });
  return results;
}

/** The attempts that a step learns from. */
export function rollOutStep({ batches }: Step, skill: string, { env }: Pick<Run, 'env'>, deps: StageDeps) {
  const items = batches.flatMap((batch) => batch.items);
  return runRollout({ env, skill, items, phase: 'train' }, deps);
}

/** Each batch is shuffled with its own seed; all are read at the same time. A group is merged as soon as its analysts are done. */
async function reflectOnResults(results: readonly RolloutResult[], work: StepWork): Promise<RawPatch[]> {
  const { batches, step, proposal = 1 } = work.plan;
  const left = [...results];
  const reading = batches.map(({ seed, items }) =>
    reflectOnBatch({ results: left.splice(0, items.length), seed, sampleIndex: proposal - 1 }, work),
  );
  const groupOf: PatchGroup = async (sourceType) =>
    (await settleAll(reading.map((one) => one.groupOf(sourceType)))).flat();
  work.run.ahead.begin(`merge ${step}`, (deps) => mergeByGroup(groupOf, mergeInput(work), deps));
  const patches = (await settleAll(reading.map((one) => one.patches))).flat();
  const patterns = failurePatterns(results, patches);
  await work.run.commit({ type: 'stage-end', step, stage: 'reflect', patches, failurePatterns: patterns });
  return patches;
}

/** An environment may have analysts of its own. */
function reflectOnBatch(
  batch: Pick<ReflectContext, 'results' | 'seed' | 'sampleIndex'>,
  { plan: { editBudget }, skill, memory, policy, run: { config, env, deps } }: StepWork,
): Reflection {
  const { minibatchSize, failureOnly, skillUpdateMode: mode } = config;
  const notesFrom = config.useSkillAwareReflection ? config.skillAwareAppendixSource : ('nobody' as const);
  const lesson = { skill, ...batch, editBudget };
  const settings = { minibatchSize, failureOnly, mode, policy, memory, notesFrom, surroundings: env.surroundings };
  const byDefault = () => reflectByGroup({ ...lesson, ...settings }, deps);
  if (!env.reflect) return byDefault();
  const { optimizer, stop } = deps;
  const reflectByDefault = () => byDefault().patches;
  const propose = async () => env.reflect!({ ...lesson, optimizer, reflectByDefault, signal: stop.abandon });
  const patches = propose().then((proposals) => proposals.filter((proposal) => proposal !== null));
  return { patches, groupOf: async (sourceType) => (await patches).filter((raw) => raw.sourceType === sourceType) };
}

async function aggregatePatches(patches: readonly RawPatch[], work: StepWork): Promise<Patch> {
  const {
    plan: { step },
    run,
  } = work;
  const patch = await run.ahead.join(`merge ${step}`, (deps) => mergePatches({ ...mergeInput(work), patches }, deps));
  await run.commit({ type: 'stage-end', step, stage: 'aggregate', patch });
  return patch;
}

function mergeInput({ skill, memory, policy, run: { config } }: StepWork) {
  return { skill, mergeBatchSize: config.mergeBatchSize, mode: config.skillUpdateMode, memory, policy };
}

/** The merged edits without those that say nothing new, were rejected before, rank low, or give tasks away. */
async function selectEdits(merged: Patch, evaluation: Evaluation, work: StepWork): Promise<Patch> {
  const { plan, skill, memory, policy, readForLeaks, run } = work;
  const { dropRepeats, retryRejectedEdits, skillUpdateMode: mode } = run.config;
  const { patch: news, ...repeated } = dropRepeats ? withoutRepeats(merged, skill, policy) : { patch: merged };
  const untried = retryRejectedEdits ? news : { ...news, edits: withoutRejected(news.edits, memory.stepBuffer) };
  const editBudget = await chooseBudget(untried, evaluation, work);
  const ranked = await rankAndSelect({ skill, patch: untried, editBudget, mode, memory }, run.deps);
  const { patch, ...leaks } = refuseLeaks(ranked, readForLeaks);
  await run.commit({ type: 'stage-end', step: plan.step, stage: 'select', patch, ...leaks, ...repeated });
  return patch;
}

/** The step's budget, or what the optimizer wants where it decides. */
async function chooseBudget(patch: Patch, evaluation: Evaluation, work: StepWork): Promise<number | null> {
  const { plan, skill, memory, run } = work;
  if (run.config.lrControlMode !== 'autonomous' || plan.editBudget === null) return plan.editBudget;
  const decision = await decideLearningRate({ skill, patch, evaluation, memory }, run.deps);
  await run.commit({ type: 'lr-decision', step: plan.step, ...decision });
  return decision.learningRate;
}

async function updateDocument(patch: Patch, patches: readonly RawPatch[], work: StepWork) {
  const { plan, skill, memory, policy, readForLeaks, run } = work;
  const { skillUpdateMode: mode, maxSkillTokens, skillAwareConsolidateThreshold: consolidateThreshold } = run.config;
  const settings = { mode, policy, memory, maxSkillTokens, consolidateThreshold, readForLeaks };
  const candidate = await updateSkill({ skill, patch, patches, ...settings }, run.deps);
  const updated = await run.commit({ type: 'stage-end', step: plan.step, stage: 'update', ...candidate });
  return { candidate, updated };
}

type Candidate = Awaited<ReturnType<typeof updateSkill>>;

async function evaluateUpdate(candidate: Candidate, state: RunState, { plan, run }: StepWork) {
  const gate = { ...candidateGate(state, run), seed: plan.batches[0]!.seed, isDoubted: isDoubted(state, run.config) };
  // Not measured: the current text (`skip_no_patches` without edits, `skip_no_rewrite`, otherwise `unchanged`), and a text that no
  // agent could use (`skip_invalid`; the next analysts read its edits and `invalidReason`). Such a step still counts: in the
  // schedule of the edit budget, and as a proposal of its batch. Where more than half of all tasks throw, `findBlame` attempts up
  // to three of them with the current skill. If most of these fail too: ENV_FAILED, which ends the run with the step unfinished.
  // If not, it is the candidate's fault: `reject`, with `blame` in this event. A tie is a `reject` too: `strict` takes only a higher
  // score, and `paired` only a lead that noise does not explain; what stays in doubt (`inconclusive`) is not taken.
  const { results, further, ...verdict } = await evaluateCandidate({ candidate, ...gate }, run.deps);
  const fact = { type: 'stage-end', step: plan.step, stage: 'evaluate', ...verdict } as const;
  const judged = await run.commit(fact, { results, further });
  const isInvalid = verdict.decision?.verdict === 'invalid' || verdict.invalidReason !== undefined;
  return { judged, action: verdict.action, isInvalid };
}

/** An invalid evaluation rejects a patch, and says nothing about its edits. */
type JudgedPatch = { readonly patch: Patch; readonly action: StepAction; readonly isInvalid: boolean };

/** A rejected patch of several edits may be saved in part. */
async function trySalvage(state: RunState, { patch, action, isInvalid }: JudgedPatch, work: StepWork) {
  const { plan, policy, run } = work;
  const { salvage: isOn, skillUpdateMode, salvageRollouts: maxRollouts, maxSkillTokens } = run.config;
  const isSalvaged = isOn && action === 'reject' && !isInvalid && patch.edits.length > 1 && skillUpdateMode === 'patch';
  if (!isSalvaged) return action;
  const onTried = (part: number, attempts: TrialAttempts) =>
    run.keepAttempts(TRIAL_FOLDERS.salvage(plan.step, part), attempts);
  const part = { skill: state.current.skill, edits: patch.edits, maxRollouts, maxSkillTokens, policy, onTried };
  const salvage = await salvagePatch({ ...candidateGate(state, run), ...part }, run.deps);
  await run.commit({ type: 'salvage-end', step: plan.step, ...salvage });
  return salvage.accepted?.action ?? action;
}

/** Lost steps in a row after which the skill is tried with less. */
const QUIET_STEPS = 3;

/**
 * A patch wins as a whole, and may carry something harmful along. When proposals stop winning, the skill is tried without
 * a part of what an accepted step has added; that asks no optimizer. Each part is tried once.
 */
async function tryRemoval(state: RunState, { step, batches }: Step, run: Run): Promise<void> {
  const isOn = run.config.tryRemovals && canTryWithout(run.config);
  const left = rolloutsLeft(state, run.config, run.items) ?? Number.POSITIVE_INFINITY;
  if (!isOn || !isQuiet(state) || left < run.items.val.length) return;
  const removal = findRemoval(state, trainsPackage(run.config));
  if (!removal) return;
  const candidate = { candidateSkill: removal.candidateSkill, candidateHash: skillHash(removal.candidateSkill) };
  const race = { ...candidateGate(state, run), seed: batches[0]!.seed };
  const { results, further, ...verdict } = await judgeSkill(candidate, race, inPhase(run.deps, 'removal'));
  const { of, removed } = removal;
  await run.commit({ type: 'removal-end', step, of, removed, ...candidate, ...verdict }, { results, further });
}

/** An optimizer that proposes no more than may be tried at once has no further ideas. */
function isQuiet({ history, draft }: RunState): boolean {
  const isOutOfIdeas = (draft.nEditsMerged ?? 0) <= (draft.editBudget ?? 0);
  return isOutOfIdeas || lostSteps(history) + 1 >= QUIET_STEPS;
}

type AddedPart = { readonly of: number; readonly removed: readonly string[] };

/** The next untried part: first what each step ranked last, then one passage after the other, the latest step first. */
function findRemoval({ history, removalsTried, current }: RunState, isPackage: boolean) {
  const accepted = history.filter(({ action }) => isAccepted(action)).reverse();
  for (const part of [...accepted.flatMap(laterHalf), ...accepted.flatMap(eachAlone)]) {
    if (removalsTried.includes(removalKey(part.of, part.removed))) continue;
    const candidateSkill = withoutPassages(current.skill, part.removed, isPackage);
    if (candidateSkill !== undefined) return { ...part, candidateSkill };
  }
  return undefined;
}

function withoutPassages(skill: string, passages: readonly string[], isPackage: boolean): string | undefined {
  const without = (text: string | undefined, passage: string) => text && withoutPassageIn(text, passage, isPackage);
  return passages.reduce<string | undefined>(without, skill);
}

function laterHalf(record: StepRecord): AddedPart[] {
  const added = addedBy(record);
  const removed = added.slice(Math.ceil(added.length / 2));
  return removed.length > 0 ? [{ of: record.step, removed }] : [];
}

/** A step that added one thing was measured with nothing else. */
function eachAlone(record: StepRecord): AddedPart[] {
  const added = addedBy(record);
  return added.length > 1 ? added.map((passage) => ({ of: record.step, removed: [passage] })) : [];
}

function addedBy(record: StepRecord): string[] {
  return keptEdits(record)
    .map((index) => record.edits[index]!)
    .filter(({ op, file = '' }) => (op === 'append' || op === 'insert_after') && partOf(file) !== 'scripts')
    .map(({ content }) => content.trim());
}
