import type { SkillOptConfig } from '../../core/config.ts';
import { findLeaks, type LeakCritic } from '../../core/leaks/leak-critic.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { Run } from '../run.ts';
import type { RunItems } from '../setup/run-items.ts';
import { guardedItems } from './guarded-items.ts';

type Guarded = {
  readonly items: RunItems;
  readonly config: Pick<SkillOptConfig, 'leakCritic' | 'maxMemorisedShare'>;
};

/** Reads texts that are new beside `skill`: what the skill says already is no secret. Switched off, it finds nothing. */
export function leakCriticOf({ items, config }: Guarded, skill: string): LeakCritic {
  if (!config.leakCritic) return () => ({ reason: undefined, memorisedShare: 0 });
  const { maxMemorisedShare } = config;
  const limit = maxMemorisedShare === undefined ? {} : { maxMemorisedShare };
  const guarded = guardedItems(items);
  return (text) => findLeaks({ edit: text, items: guarded, contract: [skill], ...limit });
}

type Known = Pick<Run, 'items' | 'config'>;

/** How much of the training tasks the best skill repeats, beyond what the initial one did; nothing when nobody looks. */
export function memorisedShareOf({ best, initialSkill }: RunState, { items, config }: Known) {
  if (!config.leakCritic) return {};
  const { memorisedShare } = leakCriticOf({ items, config }, initialSkill)(best.skill);
  return { memorisedShare };
}
