import { gateMetricScore, reportedScores, winnerMeasurement } from '../core/run/reported-scores.ts';
import type { RunState } from '../core/run/run-state.ts';
import { percent, points } from './terminal/figures.ts';

export type RunVerdict = { readonly isProven: boolean; readonly text: string };

/** Whether the best skill of a run is better than the one that it began from, in one line. */
export function verdictOf(state: RunState): RunVerdict {
  const measured = winnerMeasurement(state);
  const isProven = measured?.isClaimed === true && !measured.isSeedBetter;
  const spread = measured?.gain
    ? `, ${points(measured.gain.interval.low)} to ${points(measured.gain.interval.high)} points`
    : '';
  if (isProven) return { isProven, text: `Better: ${change(state)}, proven${spread}.` };
  const why = measured === undefined ? 'no fresh attempts confirm it' : 'it may be luck';
  return { isProven, text: `Not proven: ${change(state)}${spread}; ${state.isDone ? why : 'the run is not over'}.` };
}

/** On tasks that nobody has chosen by, if there are any. */
function change(state: RunState): string {
  const { baseline, best } = state.tests;
  if (baseline && best) {
    const [before, after] = [baseline, best].map((scores) => percent(gateMetricScore(scores, state)));
    return `${before} → ${after} on tasks it never saw`;
  }
  const scores = reportedScores(state);
  return scores ? `${percent(scores.before)} → ${percent(scores.after)} on validation tasks` : 'nothing was measured';
}
