import { isOutOfBudget, SkillError, type SkillOptConfig } from '../../core/contracts/index.ts';
import { type Ledger, type RunState, subtractAmounts } from '../../core/run/index.ts';
import { defined } from '../../core/text/index.ts';
import { LimitReached, ReserveShortage } from '../../models/index.ts';
import type { StageDeps } from '../../pipeline/index.ts';
import { isSeedWinner, isWinnerMeasured, measureWinner } from '../finish.ts';
import type { Commit } from '../record/recorder.ts';
import type { Reserve, Run } from '../run.ts';
import type { RunItems } from '../setup/run-items.ts';
import { finalPassesOf, reserveFor } from './rollouts-left.ts';
import type { RunBudget } from './run-budget.ts';

/**
 * The search may not spend what the final measurement needs. When its part of a limit is used up, the winner so far is
 * measured with the rest, and the run stops: it resumes under a higher limit.
 */
export async function withReserve(start: RunState, run: Run, search: (state: RunState, run: Run) => Promise<RunState>) {
  const { reserve } = run;
  let state = start;
  const commit: Commit = async (...written) => {
    state = await run.commit(...written);
    reserve.keep(state);
    return state;
  };
  reserve.keep(state);
  try {
    return await search(state, { ...run, commit });
  } catch (error) {
    reserve.release();
    throw isOutOfBudget(error) ? await measureSoFar(state, run, error) : error;
  } finally {
    reserve.release();
  }
}

/** Answers with why the search has stopped, by the amounts after the measurement. The seed's score needs no correction. */
async function measureSoFar(state: RunState, run: Run, shortage: SkillError): Promise<SkillError> {
  if (isWinnerMeasured(state, run) || isSeedWinner(state)) return shortage;
  const { spent } = run.reserve;
  const before = spent();
  try {
    await measureWinner(state, run, run.reserve.deps);
  } catch (error) {
    throw isOutOfBudget(error) ? fellShort(error) : error;
  }
  const used = subtractAmounts(spent(), before);
  return shortage instanceof ReserveShortage ? shortage.afterUse(spent(), used) : shortage;
}

function fellShort(error: SkillError): SkillError {
  const { hint } = error;
  const message = `${error.message}; the winner so far could not be measured to the end, so its score flatters it`;
  if (error instanceof LimitReached) return new LimitReached(error.limit, { message, hint, need: error.need });
  return new SkillError('BUDGET_EXHAUSTED', message, defined({ hint }));
}

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

type LimitKeeping = {
  readonly store: { readonly ledger?: Ledger };
  /** Limits that other work owns: it advises what to raise them to. */
  readonly shared: object | undefined;
  /** What to raise a limit to, where that is known. */
  readonly advise: (error: LimitReached) => number | undefined;
};

/** Throws on. Where the limits are the run's own, the ledger remembers which one ended it, and what to raise it to. */
export const keepLimit =
  ({ store, shared, advise }: LimitKeeping) =>
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
