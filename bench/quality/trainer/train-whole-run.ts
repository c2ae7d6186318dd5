import { type ChatModel, memoryRun, type RunSummary, SimpleQAEnv, SkillOptTrainer } from '../../../src/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/sim/index.ts';
import { countCandidates } from './count-candidates.ts';
import { configOf, NOISE, OPTIMIZERS, type Side, WORLD } from './setting.ts';
import { truthOf } from './truth-of.ts';

export type WholeRunInput = {
  readonly side: Side;
  readonly epochs: number;
  readonly seed: number;
  /** Its place among the optimizers. */
  readonly optimizer: number;
  /** No skill changes anything. */
  readonly isNull: boolean;
};

/** What came of one run. Scores are from 0 to 1; yes is 1, so that means are shares. */
export type WholeRunFigures = Record<
  | 'gain'
  | 'gainOnNewTasks'
  | 'error'
  | 'covers'
  | 'claims'
  | 'offered'
  | 'nullOffered'
  | 'nullAccepted'
  | 'harmfulOffered'
  | 'harmfulAccepted'
  | 'targetCalls'
  | 'optimizerCalls'
  | 'optimizerTokens',
  number
>;

/** Trains once with the real trainer, and compares what it says with the world's truth. */
export async function trainWholeRun({
  side,
  epochs,
  seed,
  optimizer,
  isNull,
}: WholeRunInput): Promise<WholeRunFigures> {
  const world = createWorld({ ...WORLD, seed });
  const { items, initialSkill } = world;
  const target = counted(simulatedTarget({ noise: NOISE, nullMode: isNull, seed }));
  const store = memoryRun();
  const trainer = new SkillOptTrainer({
    config: { ...configOf(side, epochs), seed },
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: [], initialSkill }),
    target: target.model,
    optimizer: simulatedOptimizer({ ...OPTIMIZERS[optimizer], seed }),
    store,
  });
  const summary = await trainer.train();
  const truth = truthOf(world, { seed, isNull });
  const best = truth.onValidation(summary.bestSkill);
  return {
    gain: best - truth.onValidation(initialSkill),
    gainOnNewTasks: truth.onNewTasks(summary.bestSkill) - truth.onNewTasks(initialSkill),
    ...reported(summary, best),
    ...countCandidates(store.events, initialSkill, truth.onValidation),
    targetCalls: target.calls(),
    ...optimizerUse(summary),
  };
}

/** Inside the run's cache: calls that were really made. */
function counted(model: ChatModel): { model: ChatModel; calls(): number } {
  let calls = 0;
  const complete: ChatModel['complete'] = (request) => {
    calls++;
    return model.complete(request);
  };
  return { model: { ...model, complete }, calls: () => calls };
}

/** The paper's protocol reports the score that the winner was chosen by, without an interval. */
function reported({ finalScore, isProven, bestSelectionScore, baselineSelectionScore }: RunSummary, truth: number) {
  if (finalScore === null) {
    return {
      error: bestSelectionScore - truth,
      covers: 0,
      claims: Number(bestSelectionScore > baselineSelectionScore!),
    };
  }
  const { low, high } = finalScore.interval;
  return {
    error: finalScore.value - truth,
    covers: Number(low <= truth && truth <= high),
    claims: Number(isProven),
  };
}

function optimizerUse({ tokenSummary }: RunSummary) {
  const stages = Object.entries(tokenSummary).filter(([stage]) => stage !== 'rollout');
  const total = (count: (usage: (typeof stages)[number][1]) => number) =>
    stages.reduce((sum, [, usage]) => sum + count(usage), 0);
  return {
    optimizerCalls: total(({ replies, cacheHits }) => replies - cacheHits),
    optimizerTokens: total(({ input, output }) => input + output),
  };
}
