import type { Blame, GateDecision } from '../../gate/gate-decision.ts';
import type { Evaluation } from '../../score.ts';
import type { RunEvent } from '../event.ts';
import type { RunState } from '../run-state.ts';

type Counted = Pick<RunState, 'rollouts' | 'attempted'>;

/**
 * How many attempts an event tells of. By the journal and not by what a cache has spared, so that a run that is resumed
 * ends where it would have ended. A training task is attempted once under one skill, and again under the next. By default an
 * event tells of as many attempts as it holds scores.
 */
export function countRollouts(state: RunState, event: RunEvent): Counted {
  const { rollouts, attempted } = state;
  const add = (count: number): Counted => ({ rollouts: rollouts + count, attempted });
  switch (event.type) {
    case 'stage-end':
      return event.stage === 'rollout' ? attempt(state, event.evaluation) : add(scoresIn(event));
    case 'salvage-end':
      return add(event.tries.length * (state.items.val ?? 0) + (event.asked ?? 0));
    case 'slow-update-end':
      return add(2 * event.pairs.length + scoresIn(event));
    case 'meta-skill-end':
      return add(compared(state));
    case 'finalists-end':
      return add(2 * event.finalists.length * (state.items.val ?? 0));
    case 'prune-end':
      return add(Object.keys(event.evaluations).length * (state.items.val ?? 0) + (event.unscored ?? 0));
    case 'test-end':
      return add(0); // the test is no part of a search
    default:
      return add(scoresIn(event));
  }
}

/** Notes compare epochs by themselves where no guidance did. */
function compared({ config, items }: RunState): number {
  if (!config || config.useSlowUpdate) return 0;
  return 2 * Math.min(config.slowUpdateSamples, items.train ?? 0);
}

function attempt({ rollouts, attempted, current }: RunState, { scores }: Evaluation): Counted {
  const known = new Set(attempted.hash === current.hash ? attempted.ids : []);
  const news = scores.map(({ id }) => id).filter((id) => !known.has(id));
  return { rollouts: rollouts + news.length, attempted: { hash: current.hash, ids: [...known, ...news] } };
}

type Measured = Pick<RunEvent, 'type'> & {
  readonly evaluation?: Evaluation | null;
  readonly passes?: readonly Evaluation[];
  readonly decision?: GateDecision;
  readonly blame?: Blame;
};

/** Each score that an event holds is an attempt, in whichever of the fields that hold them. */
function scoresIn({ evaluation, passes = [], decision, blame }: Measured): number {
  const { refreshed = [], confirmation = [], veto } = decision ?? {};
  const measured = [evaluation, ...passes].map((pass) => pass?.scores ?? []);
  const asked = [...measured, refreshed, confirmation, veto?.incumbent ?? [], veto?.candidate ?? []];
  return asked.reduce((sum, { length }) => sum + length, blame?.asked ?? 0);
}
