import { lostCandidates, type RunState, type SearchEnd } from '../core/run/index.ts';
import { percent, plural } from '../core/text/index.ts';

/** Why a search ended: in a line while it runs, and in the report. */
export function searchEndText(reason: SearchEnd, { config, current, gate, history, stepsDone }: RunState): string {
  const limit = plural(config?.maxRollouts ?? 0, 'rollout');
  if (reason === 'rollouts_spent')
    return stepsDone > 0
      ? `too few of the ${limit} are left for another step`
      : `the ${limit} leave no room for a step`;
  if (reason === 'only_losses')
    return `${plural(lostCandidates(history), 'candidate')} in a row were no better: the search ends`;
  if (reason === 'optimizer_spent')
    return `the optimizer was asked for ${plural(stepsDone, 'step')}, the most for ${limit}: the search ends`;
  const isPerfect = Object.values(gate.own).every(({ sum, count }) => sum === count);
  const how = isPerfect
    ? 'every task that it is chosen by passed when last tried'
    : `the tasks that it is chosen by are at ${percent(current.score)}`;
  return `nothing left to gain: ${how}`;
}

/** Why the search ended before its epochs were over. */
export const endWords = (state: RunState): string | undefined => {
  if (state.searchEnd === undefined) return undefined;
  const why = searchEndText(state.searchEnd, state).replace(/: the search ends$/, '');
  return `The search ended after ${plural(state.stepsDone, 'step')}: ${why}.`;
};
