import type { Amounts } from '../../core/run/ledger.ts';
import { reportedScores } from '../../core/run/reported-scores.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { addUsage, noStageUsage, type StageUsage } from '../../core/run/stage-usage.ts';
import { stepTotal } from '../../core/run/step-total.ts';
import { count, percent, plural } from '../terminal/figures.ts';
import { costWords } from './report-usage.ts';

/**
 * What a run that ran out of money or time has to show for it. The journal lacks what an unfinished step has spent, the
 * ledger what was spent while there was no limit: the larger of them counts, as it does for the limits. Calls that only the
 * ledger knows have no price if a model of the run has none.
 */
export function boughtLine(state: RunState, ledger: Amounts, hasPrices: boolean): string {
  const { stepsDone, best, usage } = state;
  const seen = reportedScores(state);
  const total: StageUsage = Object.values(usage).reduce(addUsage, noStageUsage);
  const calls = Math.max(total.replies - total.cacheHits + total.retries, ledger.calls);
  const tokens = Math.max(total.input + total.output, ledger.totalTokens);
  const unseen = hasPrices ? 0 : Math.max(0, calls - total.replies + total.cacheHits);
  const asked = { replies: total.replies + unseen, unpriced: total.unpriced + unseen };
  const usd = costWords({ ...total, ...asked, costUsd: Math.max(total.costUsd, ledger.costUsd) });
  const spent = `${plural(calls, 'call')}, ${count(tokens)} tokens, ${usd}`;
  const scores = seen ? `; validation ${percent(seen.before)} → ${percent(seen.after)}` : '; no baseline yet';
  const caution = best.origin === 'initial' || seen?.isFresh ? '' : ' as the search saw it, which flatters';
  return `bought: ${stepsDone} of ${stepTotal(state)} steps for ${spent}${scores}${caution}`;
}
