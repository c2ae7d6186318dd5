import type { SkillEnv, SkillOptConfig } from '../../core/contracts/index.ts';
import { findLeaks, type LeakCritic } from '../../core/guard/index.ts';
import type { RunState } from '../../core/run/index.ts';
import type { Run } from '../run.ts';
import type { RunItems } from '../setup/run-items.ts';
import { guardedItems } from './guarded-items.ts';

type Guarded = {
  readonly env: Pick<SkillEnv, 'refuseText'>;
  readonly items: RunItems;
  readonly config: Pick<SkillOptConfig, 'leakCritic' | 'maxMemorisedShare'>;
};

/** Reads texts that are new beside `skill`: what the environment refuses, and what gives tasks away. */
export function leakCriticOf(guarded: Guarded, skill: string): LeakCritic {
  const readForLeaks = criticOf(guarded, skill);
  const { env } = guarded;
  return (text) => {
    const refused = env.refuseText?.(text);
    if (refused === undefined) return readForLeaks(text);
    return { ...(typeof refused === 'string' ? { reason: refused } : refused), memorisedShare: 0 };
  };
}

/** What the skill says already is no secret. Switched off, it finds nothing. */
function criticOf({ items, config }: Guarded, skill: string): LeakCritic {
  if (!config.leakCritic) return () => ({ reason: undefined, memorisedShare: 0 });
  const { maxMemorisedShare } = config;
  const limit = maxMemorisedShare === undefined ? {} : { maxMemorisedShare };
  const guarded = guardedItems(items);
  return (text) => findLeaks({ edit: text, items: guarded, contract: [skill], ...limit });
}

type Known = Pick<Run, 'env' | 'items' | 'config'>;

/** How much of the training tasks the best skill repeats, beyond what the initial one did; nothing when nobody looks. */
export function memorisedShareOf({ best, initialSkill }: RunState, { items, config, env }: Known) {
  if (!config.leakCritic) return {};
  const { memorisedShare } = leakCriticOf({ env, items, config }, initialSkill)(best.skill);
  return { memorisedShare };
}
