import { selectGateScore } from '../core/gate/gate.ts';
import type { RunState } from '../core/run/run-state.ts';

type Scores = { readonly hard: number; readonly soft: number };

/** By the metric of the run's gate, as its validation scores are: one table, one metric. */
export function gateMetricScore(scores: Scores | undefined, { config }: Pick<RunState, 'config'>): number | undefined {
  return scores && selectGateScore(scores.hard, scores.soft, config?.gateMetric, config?.gateMixedWeight);
}
