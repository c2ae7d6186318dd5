import type { SkillError } from '../../core/errors.ts';
import type { Ledger } from '../../core/run/ledger.ts';
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

/** The most that one attempt may cost, set aside. Ended by `settle` or `release`, whichever is called first. */
export interface Reservation {
  /** The attempt was made, and cost this. */
  settle(actual: Amounts): void;
  /** No attempt was made. */
  release(): void;
  /** Of an attempt in stages: so much of it may be spent by now, what is about to be asked included. */
  reach(most: Amounts): void;
}

/** A part of every limit. */
export type Held = Partial<Amounts> & {
  readonly minutes?: number;
  /** What is kept from whom, as messages call them. */
  readonly purpose: string;
  readonly others: string;
};

/** An attempt in stages says with `reach` how much of it a kill may have spent. Of another, that is all of it. */
type Way = { readonly isInStages?: boolean | undefined };

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
  let spent: Amounts = { ...noAmounts, ...options.spent };
  let reserved = noAmounts;
  let reached = noAmounts; // the part of it that a kill may have spent
  let kept: Kept | undefined;
  const used = () => addAmounts(spent, reserved);
  const within = () => (kept ? subtractAmounts(limits, kept.amounts) : limits);
  const left = () => largerAmounts(subtractAmounts(within(), used()), noAmounts);
  const msLeft = () => deadline - (kept?.minutes ?? 0) * 60_000 - now();
  const claim = options.ledger && claimAhead(options.ledger, { used: () => addAmounts(spent, reached), left });

  /** Throws when `bound` could not be paid even if nothing were set aside for others. */
  function refuseIfExhausted(bound: Amounts): void {
    if (msLeft() <= 0) throw timeIsUp(maxMinutes, kept);
    const name = exceeding(addAmounts(spent, bound), within());
    if (name !== undefined) throw budgetExhausted(name, { spent, bound, limits, kept, names: options.names });
  }

  /** Each looks again whether there is enough for it now. */
  function wakeAll(): void {
    while (line.size > 0) line.serve();
  }

  function take(bound: Amounts, { isInStages = false }: Way): Reservation {
    let own = noAmounts;
    const reach = (most: Amounts) => {
      claim?.(largerAmounts(subtractAmounts(most, own), noAmounts), isInStages ? 1 : undefined);
      reached = addAmounts(subtractAmounts(reached, own), most);
      own = most;
    };
    if (!isInStages) reach(bound);
    reserved = addAmounts(reserved, bound);
    let isOpen = true;
    const end = (actual: Amounts) => {
      if (!isOpen) return;
      isOpen = false;
      reached = subtractAmounts(reached, own);
      reserved = subtractAmounts(reserved, bound);
      spent = addAmounts(spent, roundUpAmounts(actual));
      if (exceeding(actual, bound) !== undefined) onOverrun?.({ reserved: bound, actual });
      wakeAll();
    };
    return { settle: end, release: () => end(noAmounts), reach: (most) => isOpen && reach(roundUpAmounts(most)) };
  }

  return {
    limits,
    async reserve(most, signals = [], way = {}) {
      const bound = roundUpAmounts(most);
      for (let isAgain = false; ; isAgain = true) {
        for (const signal of signals) signal?.throwIfAborted();
        refuseIfExhausted(bound);
        if (exceeding(addAmounts(used(), bound), within()) === undefined) return take(bound, way);
        await line.join(signals, isAgain);
      }
    },
    hold(part) {
      kept = keep(part, kept?.spentBefore ?? spent);
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
    spent: () => spent,
    reserved: () => reserved,
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
