import {
  buildScheduler,
  chunk,
  type Item,
  knowsNoise,
  type SkillEnv,
  type SkillOptConfig,
  shuffle,
} from '../core/contracts/index.ts';
import { isFullRewrite } from '../core/document/index.ts';
import {
  isAccepted,
  isBatchDone,
  lostCandidates,
  type RunFact,
  type RunState,
  type SearchEnd,
  toKnowledge,
} from '../core/run/index.ts';
import { barFor, planWaves, unmetItems, weigh } from '../core/stats/index.ts';
import { requireRollouts, rolloutsLeft, roomUnder, type UnderLimit, underLimit } from './budget/rollouts-left.ts';
import type { Run } from './run.ts';

/** Tasks that are rolled out and reflected on together. */
type Batch = { readonly seed: number; readonly items: readonly Item[] };

/** A step as the event of its start describes it, with the tasks of its batches. */
export type Step = Omit<Extract<RunFact, { type: 'step-start' }>, 'type' | 'seed' | 'itemIds' | 'batches'> & {
  readonly batches: readonly Batch[];
};

type StepCounts = Pick<SkillOptConfig, 'batchSize' | 'accumulation' | 'numEpochs' | 'proposalsPerBatch'>;
type BudgetConfig = Pick<
  SkillOptConfig,
  'editBudget' | 'minEditBudget' | 'lrScheduler' | 'lrControlMode' | 'skillUpdateMode'
>;
type PlanConfig = StepCounts & BudgetConfig & Pick<SkillOptConfig, 'seed'>;

/** A guess where rollouts are limited: half of the batches are known, and candidates meet half of the tasks, or all. */
export function countSteps(
  config: StepCounts & Pick<SkillOptConfig, 'maxRollouts' | 'gate'>,
  itemCount: number,
  valCount = 0,
): number {
  const { batchSize, accumulation, numEpochs, proposalsPerBatch, maxRollouts } = config;
  const perEpoch = Math.ceil(itemCount / (batchSize * accumulation));
  if (maxRollouts === undefined) return numEpochs * perEpoch * proposalsPerBatch;
  const met = knowsNoise(config.gate) ? valCount / 2 : valCount;
  const perStep = Math.min(batchSize * accumulation, itemCount) / 2 + met;
  return Math.max(1, Math.round((maxRollouts - 3 * valCount) / Math.max(1, perStep)));
}

/** No more than the optimizer may be asked for. */
export function likelySteps(config: SkillOptConfig, train: number, val: number): number {
  return Math.min(countSteps(config, train, val), stepLimit(config, train, val));
}

type PlanState = Pick<RunState, 'history' | 'lastEpoch' | 'stepsDone' | 'totalSteps'>;
type Configured = { readonly config: PlanConfig & Pick<SkillOptConfig, 'maxRollouts'> };

/**
 * The epoch that is under way or next; `undefined` after the last. Where rollouts are limited, the limit decides how many
 * epochs there are; an epoch that made no rollout is the last, or the search would never end.
 */
export function nextEpoch({ lastEpoch }: PlanState, { config }: Configured): number | undefined {
  const { epoch: done = 0, isIdle = false } = lastEpoch ?? {};
  const isMore = done < config.numEpochs || (config.maxRollouts !== undefined && !isIdle);
  return isMore ? done + 1 : undefined;
}

/** The batches of an epoch, grouped by accumulation. */
type Epoch = { readonly epoch: number; readonly groups: readonly (readonly Batch[])[] };

type EpochInput = {
  readonly config: PlanConfig;
  readonly items: { readonly train: readonly Item[] };
  /** An environment may divide its tasks itself: it is asked once for an epoch. */
  readonly env?: Pick<SkillEnv, 'planTrainEpoch'>;
};

export function planEpoch(epoch: number, { config, items, env }: EpochInput): Epoch {
  return { epoch, groups: chunk(planBatches(config, items.train, epoch, env), config.accumulation) };
}

/**
 * The next step of an epoch; `undefined` at its end. A function of the config, the items and the steps before, so that a
 * resumed run meets the same batches, seeds and budgets. A batch is read until a proposal is accepted, or as often as it may be.
 */
export function nextStep(state: PlanState, { epoch, groups }: Epoch, { config }: Configured): Step | undefined {
  const before = state.history.filter((record) => record.epoch === epoch);
  const last = before.at(-1);
  const begun = before.filter(({ proposal = 1 }) => proposal === 1).length;
  const isReadAgain = last !== undefined && !isBatchDone(last, config);
  const batches = groups[isReadAgain ? begun - 1 : begun];
  if (!batches) return undefined;
  const step = state.stepsDone + 1;
  const place = { step, epoch, stepInEpoch: before.length + 1 };
  const editBudget = editBudgets(config, state.totalSteps)(step);
  return { ...place, editBudget, ...propose(batches, isReadAgain ? (last.proposal ?? 1) + 1 : 1) };
}

/** Seeds of further proposals are this far apart: no epoch has so many batches. */
const SEEDS_APART = 1_000_000;

/** The same tasks, shuffled again each time. */
function propose(batches: readonly Batch[], proposal: number): Pick<Step, 'batches' | 'proposal'> {
  return {
    ...(proposal > 1 ? { proposal } : {}),
    batches: batches.map(({ seed, items }) => ({ seed: seed + (proposal - 1) * SEEDS_APART, items })),
  };
}

/** How many tasks each batch of an epoch has, unless the environment divides them. */
export function batchSizes({ batchSize, accumulation }: StepCounts, itemCount: number): number[] {
  const count = Math.ceil(itemCount / (batchSize * accumulation)) * accumulation;
  const drawnAgain = Math.min(batchSize, itemCount);
  return Array.from({ length: count }, (_, index) => {
    const left = itemCount - index * batchSize;
    return left > 0 ? Math.min(batchSize, left) : drawnAgain;
  });
}

/** Consecutive slices of the epoch's order. Batches that the last step lacks are drawn again from that order. */
function planBatches(config: PlanConfig, items: readonly Item[], epoch: number, env: EpochInput['env']): Batch[] {
  const { batchSize, accumulation, seed } = config;
  const epochSeed = seed + epoch * 1000;
  const count = Math.ceil(items.length / (batchSize * accumulation)) * accumulation;
  const own = env?.planTrainEpoch?.({ epoch, batches: count, batchSize, seed });
  const order = shuffle(items, epochSeed);
  const slices = own ?? chunk(order, batchSize);
  return Array.from({ length: count }, (_, index) => {
    const batchSeed = epochSeed + index + 1;
    return { seed: batchSeed, items: slices[index] ?? shuffle(order, batchSeed).slice(0, batchSize) };
  });
}

function editBudgets(config: BudgetConfig, totalSteps: number): (step: number) => number | null {
  const { lrControlMode, skillUpdateMode, editBudget, minEditBudget, lrScheduler } = config;
  if (lrControlMode === 'none' || isFullRewrite(skillUpdateMode)) return () => null;
  if (lrControlMode === 'autonomous') return () => editBudget;
  if (lrScheduler === 'autonomous') return () => null;
  return buildScheduler({ mode: lrScheduler, maxLr: editBudget, minLr: minEditBudget, totalSteps }).getLr;
}

/** Training tasks in the order in which an epoch's comparison draws them. */
export function comparisonOrder(items: readonly Item[], { seed }: Pick<PlanConfig, 'seed'>, epoch: number): Item[] {
  return shuffle(items, seed + epoch * 2000);
}

type Sized = { readonly config: SkillOptConfig; readonly items: Run['items'] };

/** Why the search is over; `undefined` while there is something to gain. */
export function whyOver(state: RunState, step: Step, { config, items }: Sized): SearchEnd | undefined {
  const left = rolloutsLeft(state, config, items);
  if (left !== undefined && left < neededFor(state, step, { config, items })) return 'rollouts_spent';
  if (isNothingLeft(state, { config, items })) return 'nothing_to_gain';
  if (hasOnlyLost(state, config)) return 'only_losses';
  return state.stepsDone >= stepLimit(config, items.train.length, items.val.length) ? 'optimizer_spent' : undefined;
}

const neededFor = (state: RunState, step: Step, sized: Sized) => newTasks(step, state) + lookAt(sized);

/** Tasks of a first look at a candidate; with fewer rollouts left a step would be wasted. No other gate stops at a limit. */
function lookAt({ config, items: { val } }: { config: SkillOptConfig; items: { val: { length: number } } }): number {
  if (!endsWhenPerfect(config)) return val.length;
  const [first = 0] = planWaves(val.length);
  return Math.max(first, Math.min(val.length, LEAST_LOOK));
}

const LEAST_LOOK = 20;

/** A batch with fewer tasks teaches too little. */
const LEAST_BATCH = 12;

/** The step as far as it can be paid for: the last batch before the rollouts run out may be smaller. */
export function affordableStep(state: RunState, step: Step, sized: Sized): Step {
  const left = rolloutsLeft(state, sized.config, sized.items);
  if (left === undefined || !mayShrink(step, sized.config)) return step;
  const most = left - lookAt(sized);
  if (most < LEAST_BATCH || newTasks(step, state) <= most) return step;
  const isKnown = knownIn(state);
  const [batch] = step.batches;
  let added = 0;
  const items = batch!.items.filter(({ id }) => isKnown(id) || ++added <= most);
  return { ...step, batches: [{ ...batch!, items }] };
}

const mayShrink = ({ batches }: Step, config: SkillOptConfig) => endsWhenPerfect(config) && batches.length === 1;

/** A winner may owe its place to luck, and would then be hard to beat: after some losses it is measured again. */
export function isDoubted(
  { history }: Pick<RunState, 'history'>,
  { doubtAfter, gate, useGate }: SkillOptConfig,
): boolean {
  const lost = lostCandidates(history);
  return doubtAfter > 0 && knowsNoise(gate) && useGate && lost > 0 && lost % doubtAfter === 0;
}

const MORE_LOSSES_PER_WIN = 3;

/** Candidates that are rejected early cost few rollouts, but as much of the optimizer as any other. */
function hasOnlyLost({ history }: RunState, { maxLosses, ...config }: SkillOptConfig): boolean {
  const wins = history.filter(({ action }) => isAccepted(action)).length;
  return maxLosses > 0 && endsWhenPerfect(config) && lostCandidates(history) >= maxLosses + MORE_LOSSES_PER_WIN * wins;
}

/** Most steps under a limit of rollouts: `optimizerRatio` times as many as it pays for if each takes a batch and all tasks. */
export function stepLimit(config: StepLimits, train: number, val: number): number {
  const { maxRollouts, optimizerRatio = 0, batchSize, accumulation } = config;
  if (maxRollouts === undefined || optimizerRatio === 0 || !endsWhenPerfect(config)) return Number.POSITIVE_INFINITY;
  const whole = Math.floor((maxRollouts - val) / (Math.min(batchSize * accumulation, train) + val));
  return Math.ceil(optimizerRatio * Math.max(1, whole));
}

/** A run of an earlier version has no ratio. */
type StepLimits = Pick<SkillOptConfig, 'maxRollouts' | 'batchSize' | 'accumulation' | 'gate' | 'useGate'> & {
  readonly optimizerRatio?: number;
};

/** A warning where the limit paid for a baseline and a final measurement, and for no step between them. */
export function noRoomForStep(state: RunState, step: Step, { config, items }: Sized): string | undefined {
  const { maxRollouts } = config;
  if (maxRollouts === undefined || state.stepsDone > 0) return undefined;
  const least = leastLimit(state, step, { config, items });
  return `maxRollouts: ${maxRollouts} attempts left no room for a step, so nothing was tried; the least is ${least}.`;
}

/** The smallest higher limit that pays for a step. More validation tasks may be used under it, and more be kept back. */
function leastLimit(state: RunState, step: Step, { config, items }: Sized): number {
  const needed = Math.min(newTasks(step, state), mayShrink(step, config) ? LEAST_BATCH : Number.POSITIVE_INFINITY);
  let least = config.maxRollouts! + 1;
  while (!paysForStep(underLimit(least, config, items), needed)) least += 1;
  return least;
}

const paysForStep = (under: UnderLimit, needed: number) =>
  roomUnder(under.config, under.items) >= needed + lookAt(under);

/** Refuses a limit that pays for no step. An environment that makes its own batches may need less. */
export function requireStep(
  config: SkillOptConfig,
  items: Run['items'],
  { planTrainEpoch }: Pick<SkillEnv, 'planTrainEpoch'>,
) {
  const { batchSize, accumulation } = config;
  const batch = planTrainEpoch ? 1 : Math.min(items.train.length, batchSize * accumulation);
  const needed = endsWhenPerfect(config) && accumulation === 1 ? Math.min(batch, LEAST_BATCH) : batch;
  requireRollouts(config, items, (under) => paysForStep(under, needed));
}

function newTasks({ batches }: Step, state: RunState): number {
  const isKnown = knownIn(state);
  return new Set(batches.flatMap((batch) => batch.items.map(({ id }) => id)).filter((id) => !isKnown(id))).size;
}

/** Whether a training task was attempted with the current skill. */
function knownIn({ attempted, current }: RunState): (id: string) => boolean {
  const known = new Set(attempted.hash === current.hash ? attempted.ids : []);
  return (id) => known.has(id);
}

const endsWhenPerfect = ({ gate, useGate }: Pick<SkillOptConfig, 'gate' | 'useGate'>) => knowsNoise(gate) && useGate;

/** Once attempts of the baseline have lost this much, there is something to gain, whatever the others show. */
export const lossThatLeavesRoom = ({ config, items: { val } }: Pick<Run, 'config' | 'items'>): number =>
  endsWhenPerfect(config) ? MOST_DRAWS * barFor({ kind: 'binary', within: 0 }, val.length, config.leastLead).lead : 0;

/** Of a task in the baseline: each is a part of its mean. */
const MOST_DRAWS = 2;

/** Perfect scores would not be ahead by as much as a winner must be. Known once each task was attempted with this skill. */
function isNothingLeft(state: RunState, { config, items }: Pick<Run, 'config' | 'items'>): boolean {
  if (!endsWhenPerfect(config)) return false;
  const knowledge = toKnowledge(state.gate);
  const ids = items.val.map(({ id }) => id);
  if (unmetItems(knowledge, ids).length > 0) return false;
  const room = ids.reduce((total, id) => {
    const { sum, count } = knowledge.own.get(id)!;
    return total + 1 - sum / count;
  }, 0);
  return room < barFor(weigh({ knowledge, observed: new Map(), ids }).noise, ids.length, config.leastLead).lead;
}
