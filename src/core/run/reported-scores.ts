import { selectGateScore } from '../gate/gate.ts';
import type { FinalMeasurement } from '../gate/gate-decision.ts';
import type { RunState } from './run-state.ts';

/** The winner by fresh rollouts, if it is this one that was measured: a resumed run may find a better one. */
export function winnerMeasurement({ finalMeasurement, best }: RunState): FinalMeasurement | undefined {
  const isOfBest =
    finalMeasurement?.hash === best.hash || (finalMeasurement?.isSeedBetter && best.origin === 'initial');
  return isOfBest ? finalMeasurement : undefined;
}

type ReportedScores = { readonly before: number; readonly after: number; readonly isFresh: boolean };

/** Seed skill and winner as a person should see them: by fresh rollouts if there are any, else as the search saw them. */
export function reportedScores(state: RunState): ReportedScores | undefined {
  const { baseline, best } = state;
  if (!baseline) return undefined;
  const { score, gain, isSeedBetter } = winnerMeasurement(state) ?? {};
  if (!score) return { before: baseline.score, after: best.score, isFresh: false };
  const gained = isSeedBetter ? 0 : (gain?.value ?? 0); // the seed gains nothing on itself
  return { before: score.value - gained, after: score.value, isFresh: true };
}

type Scores = { readonly hard: number; readonly soft: number };

/** By the metric of the run's gate, as its validation scores are: one table, one metric. */
export function gateMetricScore(scores: Scores | undefined, { config }: Pick<RunState, 'config'>): number | undefined {
  return scores && selectGateScore(scores.hard, scores.soft, config?.gateMetric, config?.gateMixedWeight);
}
