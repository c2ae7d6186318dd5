import type { SkillError } from '../../core/contracts/index.ts';
import { type Amounts, type Ledger, noAmounts } from '../../core/run/index.ts';
import { WaitingLine } from '../on-abort.ts';
import { budgetExhausted, type KeptPart, type LimitNames, timeIsUp } from './budget-exhausted.ts';

export type BudgetOptions = {
  readonly maxCalls?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** Counted from the moment the budget is made, by a clock that nobody can set. */
  readonly maxMinutes?: number | undefined;
  /** What was spent of the same limits before. */
  readonly spent?: Partial<Amounts> | undefined;
  /** Keeps what is about to be spent, so that a killed process cannot forget it. */
  readonly ledger?: Pick<Ledger, 'claim'> | undefined;
  readonly now?: () => number;
  /** The caller's names of the limits, for messages. */
  readonly names?: LimitNames | undefined;
  /** Notified when a call cost more than was set aside for it: its bound was wrong, and a limit may be passed. */
  readonly onOverrun?: (overrun: { readonly reserved: Amounts; readonly actual: Amounts }) => void;
};

/** A part of every limit. */
export type Held = Partial<Amounts> & {
  readonly minutes?: number;
  /** What it is kept for, and what may not use it, for messages. */
  readonly purpose: string;
  readonly others: string;
};

type TimeLimit = {
  readonly msLeft: number;
  /** How long calls in flight may continue after that: they are paid for. */
  readonly graceMs: number;
  /** The error of calls that are still in flight after the grace. */
  readonly whyOver: () => SkillError;
};

export interface Budget {
  /**
   * Sets `bound` aside. Waits while only reservations of others stand in the way: they mostly need less. Throws
   * `BUDGET_EXHAUSTED` when what is left could not pay for it even then. The first signal to abort ends the wait.
   */
  reserve(
    bound: Amounts,
    signals?: readonly (AbortSignal | undefined)[],
    way?: ReservationOptions,
  ): Promise<Reservation>;
  /** Keeps a part of every limit back until `release`: nothing is set aside of it. Replaces an earlier part. */
  hold(part: Held): void;
  release(): void;
  /** When nothing more is set aside, whatever else is left. Undefined without a limit of minutes. */
  timeLimit(): TimeLimit | undefined;
  spent(): Amounts;
  /** What is set aside for attempts in flight. */
  reserved(): Amounts;
  /** What can still be set aside; infinite where nothing limits it. */
  left(): Amounts;
  readonly limits: Amounts;
}

/** The most that one attempt may cost, set aside. The first call of `settle` or `release` ends it. */
export interface Reservation {
  /** The attempt was made, and cost this. */
  settle(actual: Amounts): void;
  /** No attempt was made. */
  release(): void;
  /**
   * Of an attempt in stages: how much it may have spent by now, including what is about to be asked. Calls beyond those that
   * were set aside, as further tries may be, are set aside now. Throws `BUDGET_EXHAUSTED` when none is left.
   */
  reach(most: Amounts): void;
}

/** An attempt in stages says with `reach` how much a kill may have spent. Any other attempt may have spent all. */
type ReservationOptions = { readonly isInStages?: boolean | undefined };

/** Limits that hold: what is spent and what is set aside never exceed any of them together. */
export function createBudget(options: BudgetOptions = {}): Budget {
  const books = openBooks(options);
  const claim = options.ledger && claimAhead(options.ledger, books);
  const line = new WaitingLine<void>();
  /** Every caller in line checks again whether there is enough for it. */
  const wakeAll = () => {
    while (line.size > 0) line.serve();
  };
  const onEnd = (reserved: Amounts, actual: Amounts) => {
    if (exceeding(actual, reserved) !== undefined) options.onOverrun?.({ reserved, actual });
    wakeAll();
  };
  const keep = (part: KeptPart | undefined) => {
    books.kept = part;
    wakeAll();
  };
  return {
    limits: books.limits,
    async reserve(most, signals = [], { isInStages = false } = {}) {
      const bound = roundUpAmounts(most);
      for (let isAgain = false; ; isAgain = true) {
        for (const signal of signals) signal?.throwIfAborted();
        books.refuseIfExhausted(bound);
        if (exceeding(addAmounts(books.used(), bound), books.within()) === undefined)
          return openReservation(bound, isInStages, { books, claim, onEnd });
        await line.join(signals, isAgain);
      }
    },
    hold({ minutes = 0, purpose, others, ...part }) {
      const amounts = roundUpAmounts({ ...noAmounts, ...part });
      keep({ amounts, minutes, purpose, others, spentBefore: books.kept?.spentBefore ?? books.spent });
    },
    release: () => keep(undefined),
    timeLimit: books.timeLimit,
    spent: () => books.spent,
    reserved: () => books.reserved,
    left: books.left,
  };
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** As long as after Ctrl-C; of a short limit a sixtieth. */
const LONGEST_GRACE_MS = 10_000;

/** Setting the machine's clock does not change it. On Linux it stands still while the machine sleeps. */
const monotonicMs = () => performance.now();

/** What a budget has counted, and what follows from it. */
function openBooks({ now = monotonicMs, maxMinutes = NO_LIMIT, names, ...options }: BudgetOptions) {
  const { maxCalls = NO_LIMIT, maxTotalTokens = NO_LIMIT, maxCostUsd = NO_LIMIT } = options;
  const limits: Amounts = { calls: maxCalls, totalTokens: maxTotalTokens, costUsd: maxCostUsd };
  const deadline = now() + maxMinutes * 60_000;
  const msLeft = () => deadline - (books.kept?.minutes ?? 0) * 60_000 - now();
  const books = {
    limits,
    spent: { ...noAmounts, ...options.spent } as Amounts,
    reserved: noAmounts,
    /** The part of `reserved` that a kill may have spent. */
    reached: noAmounts,
    kept: undefined as KeptPart | undefined,
    used: (): Amounts => addAmounts(books.spent, books.reserved),
    within: (): Amounts => (books.kept ? subtractAmounts(limits, books.kept.amounts) : limits),
    left: (): Amounts => largerAmounts(subtractAmounts(books.within(), books.used()), noAmounts),
    /** Throws when `bound` could not be paid even if nothing were set aside for others. */
    refuseIfExhausted(bound: Amounts): void {
      const { spent, kept } = books;
      if (msLeft() <= 0) throw timeIsUp(maxMinutes, kept);
      const name = exceeding(addAmounts(spent, bound), books.within());
      if (name !== undefined) throw budgetExhausted(name, { spent, bound, limits, kept, names });
    },
    /** Throws when more would exceed a limit, with all that is set aside for others. */
    refuseUnlessFree(more: Amounts): void {
      const { kept } = books;
      if (more.calls === 0 || exceeding(addAmounts(books.used(), more), books.within()) === undefined) return;
      throw budgetExhausted('calls', { spent: books.used(), bound: more, limits, kept, names });
    },
    timeLimit(): TimeLimit | undefined {
      if (deadline === NO_LIMIT) return undefined;
      const graceMs = Math.min(LONGEST_GRACE_MS, maxMinutes * 1000);
      const { kept } = books;
      return { msLeft: Math.max(0, msLeft()), graceMs, whyOver: () => timeIsUp(maxMinutes, kept) };
    },
  };
  return books;
}

type Books = ReturnType<typeof openBooks>;

type ReservationDeps = {
  readonly books: Books;
  readonly claim: ReturnType<typeof claimAhead> | undefined;
  readonly onEnd: (bound: Amounts, actual: Amounts) => void;
};

/** Sets `bound` aside: there is enough for it. */
function openReservation(most: Amounts, isInStages: boolean, { books, claim, onEnd }: ReservationDeps): Reservation {
  let bound = most;
  let reached = noAmounts; // how much this attempt may have spent
  let isOpen = true;
  const reach = (most: Amounts) => {
    claim?.(largerAmounts(subtractAmounts(most, reached), noAmounts), isInStages ? 1 : undefined);
    books.reached = addAmounts(subtractAmounts(books.reached, reached), most);
    reached = most;
  };
  if (!isInStages) reach(bound);
  books.reserved = addAmounts(books.reserved, bound);
  const end = (actual: Amounts) => {
    if (!isOpen) return;
    isOpen = false;
    books.reached = subtractAmounts(books.reached, reached);
    books.reserved = subtractAmounts(books.reserved, bound);
    books.spent = addAmounts(books.spent, roundUpAmounts(actual));
    onEnd(bound, actual);
  };
  return {
    settle: end,
    release: () => end(noAmounts),
    reach(most) {
      if (!isOpen) return;
      const more = { ...noAmounts, calls: Math.max(0, most.calls - bound.calls) };
      books.refuseUnlessFree(more);
      bound = addAmounts(bound, more);
      books.reserved = addAmounts(books.reserved, more);
      reach(roundUpAmounts(most));
    },
  };
}

/** How many calls are claimed at once, since a claim writes to disk. */
const MOST_CALLS = 32;
/** The largest part of what is left that is claimed at once: a killed process loses what it claimed and did not use. */
const SHARE = 1 / 8;

/** Claims what is about to be spent, and some more calls like it, unless an earlier claim still covers it. */
function claimAhead(ledger: Pick<Ledger, 'claim'>, books: Books) {
  let claimed = noAmounts;
  const used = () => addAmounts(books.spent, books.reached);
  const callsAhead = (bound: Amounts) => {
    const affordable = timesWithin(multiplyAmounts(bound, 1 / SHARE), books.left());
    return Math.max(1, Math.min(MOST_CALLS, affordable));
  };
  return (bound: Amounts, times = callsAhead(bound)): void => {
    if (exceeding(addAmounts(used(), bound), claimed) === undefined) return;
    const most = addAmounts(used(), multiplyAmounts(bound, times));
    ledger.claim(most, used);
    claimed = most;
  };
}

const AMOUNTS = Object.keys(noAmounts) as (keyof Amounts)[];

const combine = (one: Amounts, other: Amounts, of: (a: number, b: number) => number): Amounts => ({
  calls: of(one.calls, other.calls),
  totalTokens: of(one.totalTokens, other.totalTokens),
  costUsd: of(one.costUsd, other.costUsd),
});

const addAmounts = (one: Amounts, other: Amounts) => toWholeNanos(combine(one, other, (a, b) => a + b));
export const subtractAmounts = (one: Amounts, other: Amounts) => toWholeNanos(combine(one, other, (a, b) => a - b));
const multiplyAmounts = (one: Amounts, factor: number) => toWholeNanos(combine(one, one, (a) => a * factor));
export const largerAmounts = (one: Amounts, other: Amounts) => combine(one, other, Math.max);

function timesWithin(part: Amounts, whole: Amounts): number {
  const times = AMOUNTS.filter((name) => part[name] > 0).map((name) => Math.floor(whole[name] / part[name]));
  return Math.min(...times);
}

/** The first amount that exceeds its limit. */
const exceeding = (amounts: Amounts, limits: Amounts) => AMOUNTS.find((name) => amounts[name] > limits[name]);

/** Dollars in whole billionths, rounded up: sums and differences of such amounts are exact. */
const roundUpAmounts = (amounts: Amounts) => ({ ...amounts, costUsd: Math.ceil(amounts.costUsd * 1e9) / 1e9 });

function toWholeNanos(amounts: Amounts): Amounts {
  const { costUsd } = amounts;
  return Number.isFinite(costUsd) ? { ...amounts, costUsd: Math.round(costUsd * 1e9) / 1e9 } : amounts;
}
