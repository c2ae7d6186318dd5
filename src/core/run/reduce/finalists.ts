/**
 * Runs of an earlier version, made with `finalists` above 1: at their end, skills that were the best at some time were
 * measured again to find the winner. No run does that now, and such a run cannot be resumed; what it came to is still shown.
 */
import type { RunEvent } from '../event.ts';
import type { RunState } from '../run-state.ts';

/** The event names the winner by its hash alone, so that the texts must be kept until it comes. */
export function withFormerBest(before: RunState, after: RunState): RunState {
  const isReplaced = before.baseline !== undefined && after.best.hash !== before.best.hash;
  if (!isReplaced || !hasFinalists(after)) return after;
  const isOther = ({ hash }: RunState['best']) => hash !== before.best.hash && hash !== after.best.hash;
  return { ...after, formerBests: [...(after.formerBests ?? []).filter(isOther), before.best] };
}

const hasFinalists = ({ config }: RunState) => ((config as { finalists?: number } | undefined)?.finalists ?? 1) > 1;

type FinalistsEnd = Extract<RunEvent, { type: 'finalists-end' }>;

export function chooseFinalist(state: RunState, { finalists, hash }: FinalistsEnd): RunState {
  const winner = [state.best, ...(state.formerBests ?? [])].find((skill) => skill.hash === hash) ?? state.best;
  const score = finalists.find((finalist) => finalist.hash === hash)?.score ?? winner.score;
  return { ...state, best: { ...winner, score } };
}
