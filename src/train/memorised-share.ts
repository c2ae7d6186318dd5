import type { RunState } from '../core/run/run-state.ts';
import type { Run } from './run.ts';
import { leakCriticOf } from './step/leak-critic-of.ts';

type Known = Pick<Run, 'items' | 'config'>;

/** How much of the training tasks the best skill repeats, beyond what the initial one did; nothing when nobody looks. */
export function memorisedShareOf({ best, initialSkill }: RunState, { items, config }: Known) {
  if (!config.leakCritic) return {};
  const { memorisedShare } = leakCriticOf({ items, config }, initialSkill)(best.skill);
  return { memorisedShare };
}
