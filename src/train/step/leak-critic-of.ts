import type { SkillOptConfig } from '../../core/config.ts';
import { findLeaks, type LeakCritic } from '../../core/leaks/leak-critic.ts';
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
