import type { SkillError } from '../../core/contracts/index.ts';
import type { Amounts, Ledger } from '../../core/run/index.ts';
import { WaitingLine } from '../on-abort.ts';
import { budgetExhausted, type KeptPart, type LimitNames, timeIsUp } from './budget-exhausted.ts';

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
  reserve(
    bound: Amounts,
    signals?: readonly (AbortSignal | undefined)[],
    way?: ReservationOptions,
  ): Promise<Reservation>;
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

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** As long as after Ctrl-C; of a short limit a sixtieth. */
const LONGEST_GRACE_MS = 10_000;

/** Limits that hold: what is spent and what is set aside are never more, together, than any of them. */
export function createBudget(options: BudgetOptions = {}): Budget {
  const { now = Date.now, onOverrun, maxMinutes = NO_LIMIT } = options;
  const limits = limitsOf(options);
  const deadline = now() + maxMinutes * 60_000;
  const line = new WaitingLine<void>();
  const counts: BudgetCounts = { spent: { ...noAmounts, ...options.spent }, reserved: noAmounts, reached: noAmounts };
  let kept: KeptPart | undefined;
  const used = () => addAmounts(counts.spent, counts.reserved);
  const within = () => (kept ? subtractAmounts(limits, kept.amounts) : limits);
  const left = () => largerAmounts(subtractAmounts(within(), used()), noAmounts);
  const msLeft = () => deadline - (kept?.minutes ?? 0) * 60_000 - now();
  const claim = options.ledger && claimAhead(options.ledger, () => addAmounts(counts.spent, counts.reached), left);

  /** Throws when `bound` could not be paid even if nothing were set aside for others. */
  function refuseIfExhausted(bound: Amounts): void {
    if (msLeft() <= 0) throw timeIsUp(maxMinutes, kept);
    const { spent } = counts;
    const name = exceeding(addAmounts(spent, bound), within());
    if (name !== undefined) throw budgetExhausted(name, { spent, bound, limits, kept, names: options.names });
  }

  /** Each looks again whether there is enough for it now. */
  const wakeAll = () => {
    while (line.size > 0) line.serve();
  };
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
      if (deadline === NO_LIMIT) return undefined;
      return timeLimitOf(msLeft(), maxMinutes, kept);
    },
    spent: () => counts.spent,
    reserved: () => counts.reserved,
    left,
  };
}

function timeLimitOf(msLeft: number, maxMinutes: number, kept: KeptPart | undefined): TimeLimit {
  const graceMs = Math.min(LONGEST_GRACE_MS, maxMinutes * 1000);
  return { msLeft: Math.max(0, msLeft), graceMs, whyOver: () => timeIsUp(maxMinutes, kept) };
}

function keep({ minutes = 0, purpose, others, ...part }: Held, spentBefore: Amounts): KeptPart {
  return { amounts: roundUpAmounts({ ...noAmounts, ...part }), minutes, purpose, others, spentBefore };
}

function limitsOf(options: BudgetOptions): Amounts {
  const {
    maxCalls: calls = NO_LIMIT,
    maxTotalTokens: totalTokens = NO_LIMIT,
    maxCostUsd: costUsd = NO_LIMIT,
  } = options;
  return { calls, totalTokens, costUsd };
}

/** The most that one attempt may cost, set aside. Ended by `settle` or `release`, whichever is called first. */
export interface Reservation {
  /** The attempt was made, and cost this. */
  settle(actual: Amounts): void;
  /** No attempt was made. */
  release(): void;
  /** Of an attempt in stages: so much of it may be spent by now, what is about to be asked included. */
  reach(most: Amounts): void;
}

/** An attempt in stages says with `reach` how much of it a kill may have spent. Of another, that is all of it. */
type ReservationOptions = { readonly isInStages?: boolean | undefined };

/** What a budget has counted. */
type BudgetCounts = {
  spent: Amounts;
  /** Set aside for attempts in flight. */
  reserved: Amounts;
  /** The part of that which a kill may have spent. */
  reached: Amounts;
};

type ReservationBooks = {
  readonly counts: BudgetCounts;
  /** Makes sure that a kill cannot forget what is about to be spent. */
  readonly claim: ((bound: Amounts, times?: number) => void) | undefined;
  readonly onEnd: (bound: Amounts, actual: Amounts) => void;
};

/** Sets `bound` aside: there is enough for it. */
function openReservation(bound: Amounts, { isInStages = false }: ReservationOptions, books: ReservationBooks) {
  const { counts, claim, onEnd } = books;
  let reached = noAmounts; // how far the attempt may have come
  const reach = (most: Amounts) => {
    claim?.(largerAmounts(subtractAmounts(most, reached), noAmounts), isInStages ? 1 : undefined);
    counts.reached = addAmounts(subtractAmounts(counts.reached, reached), most);
    reached = most;
  };
  if (!isInStages) reach(bound);
  counts.reserved = addAmounts(counts.reserved, bound);
  let isOpen = true;
  const end = (actual: Amounts) => {
    if (!isOpen) return;
    isOpen = false;
    counts.reached = subtractAmounts(counts.reached, reached);
    counts.reserved = subtractAmounts(counts.reserved, bound);
    counts.spent = addAmounts(counts.spent, roundUpAmounts(actual));
    onEnd(bound, actual);
  };
  return {
    settle: end,
    release: () => end(noAmounts),
    reach: (most: Amounts) => isOpen && reach(roundUpAmounts(most)),
  };
}

/** So many calls are claimed at once, since a claim writes to disk. */
const MOST_CALLS = 32;
/** But no more than this part of what is left: a killed process loses what it had claimed and not used. */
const SHARE = 1 / 8;

/**
 * Claims what is about to be spent, and some more calls like it, unless an earlier claim still covers it. `used` is what is
 * spent, and what a kill may have spent of what is set aside.
 */
function claimAhead(ledger: Pick<Ledger, 'claim'>, used: () => Amounts, left: () => Amounts) {
  let claimed = noAmounts;
  return (bound: Amounts, times = callsAhead(bound, left())): void => {
    if (exceeding(addAmounts(used(), bound), claimed) === undefined) return;
    const most = addAmounts(used(), multiplyAmounts(bound, times));
    ledger.claim(most, used);
    claimed = most;
  };
}

function callsAhead(bound: Amounts, left: Amounts): number {
  const affordable = timesWithin(multiplyAmounts(bound, 1 / SHARE), left);
  return Math.max(1, Math.min(MOST_CALLS, affordable));
}

export const noAmounts: Amounts = { calls: 0, totalTokens: 0, costUsd: 0 };

const names = Object.keys(noAmounts) as (keyof Amounts)[];

const combine = (one: Amounts, other: Amounts, of: (a: number, b: number) => number): Amounts => ({
  calls: of(one.calls, other.calls),
  totalTokens: of(one.totalTokens, other.totalTokens),
  costUsd: of(one.costUsd, other.costUsd),
});

const addAmounts = (one: Amounts, other: Amounts) => toWholeNanos(combine(one, other, (a, b) => a + b));
export const subtractAmounts = (one: Amounts, other: Amounts) => toWholeNanos(combine(one, other, (a, b) => a - b));
const multiplyAmounts = (one: Amounts, factor: number) => toWholeNanos(combine(one, one, (a) => a * factor));
/** Of each the larger one. */
export const largerAmounts = (one: Amounts, other: Amounts) => combine(one, other, Math.max);

/** How many times `part` fits into `whole`. */
function timesWithin(part: Amounts, whole: Amounts): number {
  const times = names.filter((name) => part[name] > 0).map((name) => Math.floor(whole[name] / part[name]));
  return Math.min(...times);
}

/** The first amount of which `amounts` has more than `limits`. */
const exceeding = (amounts: Amounts, limits: Amounts) => names.find((name) => amounts[name] > limits[name]);

/**
 * Dollars in whole billionths, rounded up. Sums and differences of such amounts are exact: what is set aside and given
 * back leaves nothing behind.
 */
const roundUpAmounts = (amounts: Amounts) => ({ ...amounts, costUsd: Math.ceil(amounts.costUsd * 1e9) / 1e9 });

function toWholeNanos(amounts: Amounts): Amounts {
  const { costUsd } = amounts;
  return Number.isFinite(costUsd) ? { ...amounts, costUsd: Math.round(costUsd * 1e9) / 1e9 } : amounts;
}
