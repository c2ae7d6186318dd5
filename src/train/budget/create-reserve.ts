import type { SkillOptConfig } from '../../core/contracts/index.ts';
import type { Ledger } from '../../core/run/index.ts';
import { LimitReached } from '../../models/index.ts';
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

type Limits = {
  readonly store: { readonly ledger?: Ledger };
  /** Limits of others: what to raise them to is theirs to say. */
  readonly shared: object | undefined;
  /** What to raise a limit to, where that is known. */
  readonly advise: (error: LimitReached) => number | undefined;
};

/** Has the ledger, where the limits are the run's own, remember which one has ended it and what would do; and throws on. */
export const keepLimit =
  ({ store, shared, advise }: Limits) =>
  (error: unknown) => {
    if (!(error instanceof LimitReached) || shared) throw error;
    const advised = advise(error);
    store.ledger?.stop?.(error.limit, advised);
    throw advised === undefined ? error : withAdvice(error, advised);
  };

function withAdvice({ limit, message, need }: LimitReached, advised: number): LimitReached {
  const hint = `Raise ${limit} to ${advised} and start again: it resumes from here.`;
  return new LimitReached(limit, { message, hint, need });
}
