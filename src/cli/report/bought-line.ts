import type { RunState } from '../../core/run-state.ts';
import { addUsage, noStageUsage, type StageUsage } from '../../core/stage-usage.ts';
import { reportedScores } from '../../core/winner-measurement.ts';
import { count, percent, plural } from '../terminal/figures.ts';
import { cost } from './report-usage.ts';

/** What a run that ran out of money or time has to show for it. */
export function boughtLine(state: RunState): string {
  const { stepsDone, totalSteps, best, usage } = state;
  const seen = reportedScores(state);
  const total: StageUsage = Object.values(usage).reduce(addUsage, noStageUsage);
  const spent = `${plural(total.replies - total.cacheHits, 'call')}, ${count(total.input + total.output)} tokens, $${cost(total)}`;
  const scores = seen ? `; validation ${percent(seen.before)} → ${percent(seen.after)}` : '; no baseline yet';
  const caution = best.origin === 'initial' || seen?.isFresh ? '' : ' as the search saw it, which flatters';
  return `bought: ${stepsDone} of ${totalSteps} steps for ${spent}${scores}${caution}`;
}
