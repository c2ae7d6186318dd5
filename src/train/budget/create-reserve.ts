import type { SkillOptConfig } from '../../core/config.ts';
import type { Ledger } from '../../core/run/ledger.ts';
import { LimitReached } from '../../models/budget/budget-exhausted.ts';
import type { StageDeps } from '../../pipeline/index.ts';
import type { Reserve } from '../run.ts';
import type { RunItems } from '../setup/run-items.ts';
import { reserveFor } from './reserve-for.ts';
import { finalPassesOf } from './rollouts-left.ts';
import type { RunBudget } from './run-budget.ts';

type ReserveOptions = {
  readonly config: SkillOptConfig;
  readonly items: Pick<RunItems, 'val'>;
  readonly budget: Pick<RunBudget, 'hold' | 'release' | 'spent'>;
  readonly deps: StageDeps;
};

/** A reserve for `finalPasses` over the validation tasks; none when there are none. */
export function createReserve({ config, items, budget, deps }: ReserveOptions): Reserve {
  const rollouts = finalPassesOf(config, items) * items.val.length;
  return {
    keep: (state) => (rollouts > 0 ? budget.hold(reserveFor(state, rollouts)) : undefined),
    release: budget.release,
    spent: budget.spent,
    deps,
  };
}

/** Has the ledger, where the limits are the run's own, remember which one has ended it; and throws on. */
export const keepLimit = (store: { readonly ledger?: Ledger }, shared: object | undefined) => (error: unknown) => {
  if (error instanceof LimitReached && !shared) store.ledger?.stop?.(error.limit);
  throw error;
};
