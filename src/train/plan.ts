import type { SkillOptConfig } from '../core/config.ts';
import type { Item, SkillEnv } from '../core/env.ts';
import { chunk, shuffle } from '../core/random.ts';
import { buildScheduler } from '../core/schedule.ts';
import { isFullRewrite } from '../core/update-mode.ts';

/** Tasks that are rolled out and reflected on together. */
type Batch = { readonly seed: number; readonly items: readonly Item[] };

export type Step = {
  /** Counts from 1 over the whole run. */
  readonly step: number;
  readonly epoch: number;
  readonly stepInEpoch: number;
  /** Which of the candidates that are made from these batches, from the second on. */
  readonly proposal?: number;
  /** Most changes of the step; `null` when nothing limits them. */
  readonly editBudget: number | null;
  /** One batch, or as many as are accumulated. */
  readonly batches: readonly Batch[];
};

export type Epoch = { readonly epoch: number; readonly steps: readonly Step[] };

type PlanConfig = Pick<
  SkillOptConfig,
  | 'batchSize'
  | 'proposalsPerBatch'
  | 'accumulation'
  | 'numEpochs'
  | 'seed'
  | 'editBudget'
  | 'minEditBudget'
  | 'lrScheduler'
  | 'lrControlMode'
  | 'skillUpdateMode'
>;

type StepCounts = Pick<PlanConfig, 'batchSize' | 'accumulation' | 'numEpochs' | 'proposalsPerBatch'>;

export function countSteps(
  { batchSize, accumulation, numEpochs, proposalsPerBatch }: StepCounts,
  itemCount: number,
): number {
  return numEpochs * Math.ceil(itemCount / (batchSize * accumulation)) * proposalsPerBatch;
}

type PlanInput = {
  readonly config: PlanConfig;
  readonly items: readonly Item[];
  /** An environment may divide its tasks itself. */
  readonly env?: Pick<SkillEnv, 'planTrainEpoch'>;
  readonly done: { readonly epochs: number; readonly steps: number };
};

/**
 * Every epoch that is not over, with the steps it still has. A function of the config and the items alone, so that a
 * resumed run meets the batches, seeds and budgets that it would have met.
 */
export function* remainingEpochs({ config, items, env, done }: PlanInput): Generator<Epoch> {
  const budgetOf = editBudgets(config, items.length);
  for (let epoch = done.epochs + 1; epoch <= config.numEpochs; epoch++) {
    const batches = planBatches(config, items, epoch, env);
    const proposals = chunk(batches, config.accumulation).flatMap((accumulated) => propose(accumulated, config));
    const steps = proposals.map((proposal, index, { length }): Step => {
      const step = (epoch - 1) * length + index + 1;
      return { step, epoch, stepInEpoch: index + 1, editBudget: budgetOf(step), ...proposal };
    });
    yield { epoch, steps: steps.filter(({ step }) => step > done.steps) };
  }
}

/** Seeds of further proposals are this far apart: no epoch has so many batches. */
const SEEDS_APART = 1_000_000;

/** The same tasks several times, each time shuffled anew. A step that changed the skill makes the next roll them out again. */
function propose(batches: readonly Batch[], { proposalsPerBatch }: PlanConfig): Pick<Step, 'batches' | 'proposal'>[] {
  return Array.from({ length: proposalsPerBatch }, (_, index) => ({
    ...(index > 0 ? { proposal: index + 1 } : {}),
    batches: batches.map(({ seed, items }) => ({ seed: seed + index * SEEDS_APART, items })),
  }));
}

/** How many tasks each batch of an epoch has, if no environment divides them itself. */
export function batchSizes({ batchSize, accumulation }: StepCounts, itemCount: number): number[] {
  const count = Math.ceil(itemCount / (batchSize * accumulation)) * accumulation;
  const drawnAnew = Math.min(batchSize, itemCount);
  return Array.from({ length: count }, (_, index) => {
    const left = itemCount - index * batchSize;
    return left > 0 ? Math.min(batchSize, left) : drawnAnew;
  });
}

/** Consecutive slices of the epoch's order. What a last step lacks for its accumulation is drawn anew. */
function planBatches(config: PlanConfig, items: readonly Item[], epoch: number, env: PlanInput['env']): Batch[] {
  const { batchSize, accumulation, seed } = config;
  const epochSeed = seed + epoch * 1000;
  const count = Math.ceil(items.length / (batchSize * accumulation)) * accumulation;
  const own = env?.planTrainEpoch?.({ epoch, batches: count, batchSize, seed });
  const slices = own ?? chunk(shuffle(items, epochSeed), batchSize);
  return Array.from({ length: count }, (_, index) => {
    const batchSeed = epochSeed + index + 1;
    return { seed: batchSeed, items: slices[index] ?? shuffle(items, batchSeed).slice(0, batchSize) };
  });
}

/** When the optimizer decides, analysts may propose what is configured; without control, what they like. */
function editBudgets(config: PlanConfig, itemCount: number): (step: number) => number | null {
  const { lrControlMode, skillUpdateMode, editBudget, minEditBudget, lrScheduler } = config;
  if (lrControlMode === 'none' || isFullRewrite(skillUpdateMode)) return () => null;
  if (lrControlMode === 'autonomous') return () => editBudget;
  const totalSteps = countSteps(config, itemCount);
  return buildScheduler({ mode: lrScheduler, maxLr: editBudget, minLr: minEditBudget, totalSteps }).getLr;
}

/** Training tasks in the order in which an epoch's comparison draws them. */
export function comparisonOrder(items: readonly Item[], { seed }: Pick<PlanConfig, 'seed'>, epoch: number): Item[] {
  return shuffle(items, seed + epoch * 2000);
}
