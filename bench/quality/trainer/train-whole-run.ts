import { type ChatModel, memoryRun, type RunSummary, SkillOptTrainer } from '../../../src/index.ts';
import { createRoundClock } from '../count-rounds.ts';
import { believedError } from './believed-error.ts';
import type { Cell } from './cells.ts';
import { countCandidates } from './count-candidates.ts';
import { type Place, placeOf } from './place.ts';
import { configOf, type Side, type Size } from './setting.ts';

export type WholeRunInput = {
  readonly side: Side;
  readonly size: Size;
  readonly seed: number;
  readonly cell: Cell;
};

/** What came of one run. Scores are from 0 to 1; yes is 1, so that means are shares. */
export type WholeRunFigures = Record<
  | 'gain'
  | 'room'
  | 'error'
  | 'covers'
  | 'claims'
  | 'offered'
  | 'nullOffered'
  | 'nullAccepted'
  | 'harmfulOffered'
  | 'harmfulAccepted'
  | 'accepts'
  | 'believedError'
  | 'targetCalls'
  | 'optimizerCalls'
  | 'optimizerTokens'
  | 'rounds',
  number
>;

/** Trains once with the real trainer, and compares what it says with the world's truth. */
export async function trainWholeRun({ side, size, seed, cell }: WholeRunInput): Promise<WholeRunFigures> {
  const place = placeOf(cell, seed);
  const clock = createRoundClock();
  const target = counted(place.target);
  const store = memoryRun();
  const summary = await new SkillOptTrainer({
    config: { ...configOf(side, size), seed },
    env: place.env,
    target: clock.wrap(target.model),
    optimizer: clock.wrap(place.optimizer),
    store,
  }).train();
  return {
    ...judged(summary, place),
    ...countCandidates(store.events, place.initialSkill, place.truth),
    ...believedError(store.events, place.truth),
    targetCalls: target.calls(),
    ...optimizerUse(summary),
    rounds: clock.rounds(),
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

function judged(summary: RunSummary, { initialSkill, fullSkill, truth }: Place) {
  const [seed, best] = [truth(initialSkill), truth(summary.bestSkill)];
  return { gain: best - seed, room: truth(fullSkill) - seed, ...reported(summary, best) };
}

/** The paper's protocol reports the score that the winner was chosen by, without an interval. */
function reported({ finalScore, isProven, bestSelectionScore, baselineSelectionScore }: RunSummary, truth: number) {
  if (finalScore === null) {
    const claims = Number(bestSelectionScore! > baselineSelectionScore!);
    return { error: bestSelectionScore! - truth, covers: 0, claims };
  }
  const { low, high } = finalScore.interval;
  return {
    error: finalScore.value - truth,
    covers: Number(low <= truth && truth <= high),
    claims: Number(isProven),
  };
}

/** All stages but the rollouts. */
function optimizerUse({ tokenSummary }: RunSummary) {
  const stages = Object.entries(tokenSummary).filter(([stage]) => stage !== 'rollout');
  const total = (count: (usage: (typeof stages)[number][1]) => number) =>
    stages.reduce((sum, [, usage]) => sum + count(usage), 0);
  return {
    optimizerCalls: total(({ replies, cacheHits }) => replies - cacheHits),
    optimizerTokens: total(({ input, output }) => input + output),
  };
}
