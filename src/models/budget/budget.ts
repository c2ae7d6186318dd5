import type { SkillError } from '../../core/contracts/index.ts';
import type { Ledger } from '../../core/run/index.ts';
import { WaitingLine } from '../waiting-line.ts';
import {
  type Amounts,
  addAmounts,
  exceeding,
  largerAmounts,
  noAmounts,
  roundUpAmounts,
  subtractAmounts,
} from './amounts.ts';
import { budgetExhausted, type Kept, type LimitNames, timeIsUp } from './budget-exhausted.ts';
import { claimAhead } from './claim-ahead.ts';
import { type Counts, openReservation, type Reservation, type Way } from './reservation.ts';

export type BudgetOptions = {
  readonly maxCalls?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** Counted from the moment the budget is made. */
  readonly maxMinutes?: number | undefined;
  /** What was spent of the same limits before. */
  readonly spent?: Partial<Amounts> | undefined;
  /** Where what is set aside is safe from a kill, before it is. */
  readonly ledger?: Pick<Ledger, 'claim'> | undefined;
  readonly now?: () => number;
  /** For messages. */
  readonly names?: LimitNames | undefined;
  /** Notified when a call cost more than was set aside for it: then its bound was wrong, and a limit may be passed. */
  readonly onOverrun?: (overrun: { readonly reserved: Amounts; readonly actual: Amounts }) => void;
};

/** A part of every limit. */
export type Held = Partial<Amounts> & {
  readonly minutes?: number;
  /** What is kept from whom, as messages call them. */
  readonly purpose: string;
  readonly others: string;
};

type TimeLimit = {
  readonly msLeft: number;
  /** How long calls in flight may take then: they are paid for. */
  readonly graceMs: number;
  /** What such a call fails with after that. */
  readonly whyOver: () => SkillError;
};

export interface Budget {
  /**
   * Sets `bound` aside. Waits as long as only what is set aside for others stands in the way: they mostly need less.
   * Throws `BUDGET_EXHAUSTED` once what is left could not pay for it even then. The first signal to abort ends the wait with its reason.
   */
  reserve(bound: Amounts, signals?: readonly (AbortSignal | undefined)[], way?: Way): Promise<Reservation>;
  /** Keeps a part of every limit back until `release`: nothing is set aside of it. Takes the place of an earlier one. */
  hold(part: Held): void;
  release(): void;
  /** When nothing more is set aside, whatever is left of the rest; nothing without a limit of minutes. */
  timeLimit(): TimeLimit | undefined;
  spent(): Amounts;
  /** What is set aside for attempts in flight. */
  reserved(): Amounts;
  /** What can still be set aside; infinite where nothing limits it. */
  left(): Amounts;
  readonly limits: Amounts;
}

/** As long as after Ctrl-C; of a short limit a sixtieth. */
const LONGEST_GRACE_MS = 10_000;

/** Limits that hold: what is spent and what is set aside are never more, together, than any of them. */
export function createBudget(options: BudgetOptions = {}): Budget {
  const { now = Date.now, onOverrun, maxMinutes = Number.POSITIVE_INFINITY } = options;
  const limits = limitsOf(options);
  const deadline = now() + maxMinutes * 60_000;
  const line = new WaitingLine<void>();
  const counts: Counts = { spent: { ...noAmounts, ...options.spent }, reserved: noAmounts, reached: noAmounts };
  let kept: Kept | undefined;
  const used = () => addAmounts(counts.spent, counts.reserved);
  const within = () => (kept ? subtractAmounts(limits, kept.amounts) : limits);
  const left = () => largerAmounts(subtractAmounts(within(), used()), noAmounts);
  const msLeft = () => deadline - (kept?.minutes ?? 0) * 60_000 - now();
  const mostUsed = () => addAmounts(counts.spent, counts.reached);
  const claim = options.ledger && claimAhead(options.ledger, { used: mostUsed, left });

  /** Throws when `bound` could not be paid even if nothing were set aside for others. */
  function refuseIfExhausted(bound: Amounts): void {
    if (msLeft() <= 0) throw timeIsUp(maxMinutes, kept);
    const { spent } = counts;
    const name = exceeding(addAmounts(spent, bound), within());
    if (name !== undefined) throw budgetExhausted(name, { spent, bound, limits, kept, names: options.names });
  }

  /** Each looks again whether there is enough for it now. */
  function wakeAll(): void {
    while (line.size > 0) line.serve();
  }

  const onEnd = (bound: Amounts, actual: Amounts) => {
    if (exceeding(actual, bound) !== undefined) onOverrun?.({ reserved: bound, actual });
    wakeAll();
  };

  return {
    limits,
    async reserve(most, signals = [], way = {}) {
      const bound = roundUpAmounts(most);
      for (let isAgain = false; ; isAgain = true) {
        for (const signal of signals) signal?.throwIfAborted();
        refuseIfExhausted(bound);
        if (exceeding(addAmounts(used(), bound), within()) === undefined)
          return openReservation(bound, way, { counts, claim, onEnd });
        await line.join(signals, isAgain);
      }
    },
    hold(part) {
      kept = keep(part, kept?.spentBefore ?? counts.spent);
      wakeAll();
    },
    release() {
      kept = undefined;
      wakeAll();
    },
    timeLimit() {
      if (deadline === Number.POSITIVE_INFINITY) return undefined;
      const part = kept;
      const graceMs = Math.min(LONGEST_GRACE_MS, maxMinutes * 1000);
      return { msLeft: Math.max(0, msLeft()), graceMs, whyOver: () => timeIsUp(maxMinutes, part) };
    },
    spent: () => counts.spent,
    reserved: () => counts.reserved,
    left,
  };
}

function keep({ minutes = 0, purpose, others, ...part }: Held, spentBefore: Amounts): Kept {
  return { amounts: roundUpAmounts({ ...noAmounts, ...part }), minutes, purpose, others, spentBefore };
}

function limitsOf({ maxCalls, maxTotalTokens, maxCostUsd }: BudgetOptions): Amounts {
  return {
    calls: maxCalls ?? Number.POSITIVE_INFINITY,
    totalTokens: maxTotalTokens ?? Number.POSITIVE_INFINITY,
    costUsd: maxCostUsd ?? Number.POSITIVE_INFINITY,
  };
}
