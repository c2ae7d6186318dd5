import type { Blame, GateDecision } from '../../gate/gate-decision.ts';
import type { Evaluation } from '../../score.ts';
import type { RunEvent } from '../event.ts';
import type { RunState } from '../run-state.ts';

type Counted = Pick<RunState, 'rollouts' | 'attempted'>;

/**
 * How many attempts an event tells of. By the journal and not by what a cache has spared, so that a run that is resumed
 * ends where it would have ended. A training task is attempted once under one skill, and again under the next.
 */
export function countRollouts(state: RunState, event: RunEvent): Counted {
  const { rollouts, attempted } = state;
  const add = (count: number): Counted => ({ rollouts: rollouts + count, attempted });
  switch (event.type) {
    case 'baseline-end':
      return add(sizeOf([event.evaluation, ...(event.passes ?? [])]));
    case 'stage-end':
      if (event.stage === 'rollout') return attempt(state, event.evaluation);
      return event.stage === 'evaluate' ? add(judged(event)) : add(0);
    case 'salvage-end':
      return add(event.tries.length * (state.items.val ?? 0) + (event.asked ?? 0));
    case 'removal-end':
      return add(judged(event));
    case 'slow-update-end':
      return add(2 * event.pairs.length + judged(event));
    case 'meta-skill-end':
      return add(compared(state));
    case 'finalists-end':
      return add(2 * event.finalists.length * (state.items.val ?? 0));
    case 'prune-end':
      return add(Object.keys(event.evaluations).length * (state.items.val ?? 0) + (event.unscored ?? 0));
    case 'final-selection-end':
      return add(sizeOf([event.evaluation]));
    case 'final-measurement-end':
      return add(sizeOf(event.passes));
    default:
      return add(0);
  }
}

/** Notes compare epochs by themselves where no guidance did. */
function compared({ config, items }: RunState): number {
  if (!config || config.useSlowUpdate) return 0;
  return 2 * Math.min(config.slowUpdateSamples, items.train ?? 0);
}

const sizeOf = (evaluations: readonly (Evaluation | null)[]) =>
  evaluations.reduce((sum, evaluation) => sum + (evaluation?.scores.length ?? 0), 0);

function attempt({ rollouts, attempted, current }: RunState, { scores }: Evaluation): Counted {
  const known = new Set(attempted.hash === current.hash ? attempted.ids : []);
  const news = scores.map(({ id }) => id).filter((id) => !known.has(id));
  return { rollouts: rollouts + news.length, attempted: { hash: current.hash, ids: [...known, ...news] } };
}

type Judged = { readonly evaluation: Evaluation | null; readonly decision?: GateDecision; readonly blame?: Blame };

function judged({ evaluation, decision, blame }: Judged): number {
  const { refreshed = [], confirmation = [], veto } = decision ?? {};
  const asked = [evaluation?.scores ?? [], refreshed, confirmation, veto?.incumbent ?? [], veto?.candidate ?? []];
  return asked.reduce((sum, { length }) => sum + length, blame?.asked ?? 0);
}
