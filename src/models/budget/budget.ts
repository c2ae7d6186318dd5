import type { SkillError } from '../../core/contracts/index.ts';
import {
  AMOUNTS,
  type Amounts,
  addAmounts,
  type Ledger,
  largerAmounts,
  noAmounts,
  type OpenEntry,
  roundUpAmounts,
  type StageUsage,
  subtractAmounts,
} from '../../core/run/index.ts';
import { WaitingLine } from '../on-abort.ts';
import { budgetExhausted, type KeptPart, type LimitNames, timeIsUp } from './budget-exhausted.ts';

export type BudgetOptions = {
  readonly maxCalls?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
  /** Counted from the moment the budget is made, by a clock that nobody can set. */
  readonly maxMinutes?: number | undefined;
  /** What was spent of the same limits before. Default: what the ledger has counted. */
  readonly spent?: Partial<Amounts> | undefined;
  /** Keeps what is spent and what is about to be, so that a killed process cannot forget it. */
  readonly ledger?: Ledger | undefined;
  /** Default: what the ledger has counted. */
  readonly kills?: number | undefined;
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
  /** Earlier starts that were killed with calls in flight. */
  readonly kills: number;
  readonly limits: Amounts;
  readonly ledger?: Ledger | undefined;
}

/** The most that one attempt may cost, set aside. The first call of `settle`, `fail` or `release` ends it. */
export interface Reservation {
  /** The attempt was answered, and cost this; `answered` says it in detail. */
  settle(actual: Amounts, answered?: Partial<StageUsage>): void;
  /** The attempt was made and not answered. It may have cost this. */
  fail(most: Amounts): void;
  /** No attempt was made. */
  release(): void;
  /**
   * Of an attempt in stages: what was answered by now, and the most that its calls in flight may take. Calls beyond those that
   * were set aside, as further tries may be, are set aside now. Throws `BUDGET_EXHAUSTED` when none is left.
   */
  reach(answered: Partial<StageUsage>, inFlight: Amounts): void;
}

type ReservationOptions = {
  /** Who asks. Default: `other`. */
  readonly stage?: string | undefined;
  /** An attempt in stages says with `reach` what is in flight. Of any other attempt, all is. */
  readonly isInStages?: boolean | undefined;
  /** The ledger of the part of the work that asks, beside that of the budget. */
  readonly ledger?: Ledger | undefined;
};

/** Limits that hold: what is spent and what is set aside never exceed any of them together. */
export function createBudget(options: BudgetOptions = {}): Budget {
  const books = openBooks(options);
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
    kills: options.kills ?? options.ledger?.spent().kills ?? 0,
    ...(options.ledger ? { ledger: options.ledger } : {}),
    async reserve(most, signals = [], way = {}) {
      const bound = roundUpAmounts(most);
      for (let isAgain = false; ; isAgain = true) {
        for (const signal of signals) signal?.throwIfAborted();
        books.refuseIfExhausted(bound);
        if (exceeding(addAmounts(books.used(), bound), books.within()) === undefined)
          return openReservation(bound, { books, entry: enterAll([options.ledger, way.ledger], bound, way), onEnd });
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
    spent: { ...noAmounts, ...(options.spent ?? options.ledger?.spent().counted) } as Amounts,
    reserved: noAmounts,
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
  readonly entry: OpenEntry;
  readonly onEnd: (bound: Amounts, actual: Amounts) => void;
};

/** Sets `bound` aside: there is enough for it. */
function openReservation(most: Amounts, { books, entry, onEnd }: ReservationDeps): Reservation {
  let bound = most;
  let isOpen = true;
  books.reserved = addAmounts(books.reserved, bound);
  const end = (actual: Amounts, now: Parameters<OpenEntry['end']>[0]) => {
    if (!isOpen) return;
    isOpen = false;
    books.reserved = subtractAmounts(books.reserved, bound);
    books.spent = addAmounts(books.spent, roundUpAmounts(actual));
    entry.end(now);
    onEnd(bound, actual);
  };
  return {
    settle: (actual, answered = asUsage(actual)) => end(actual, { answered }),
    fail: (most) => end(most, { failed: most }),
    release: () => end(noAmounts, {}),
    reach(answered, inFlight) {
      if (!isOpen) return;
      const { replies = 0, retries = 0 } = answered;
      const more = { ...noAmounts, calls: Math.max(0, replies + retries + inFlight.calls - bound.calls) };
      books.refuseUnlessFree(more);
      bound = addAmounts(bound, more);
      books.reserved = addAmounts(books.reserved, more);
      entry.note({ answered, inFlight: roundUpAmounts(inFlight) });
    },
  };
}

const asUsage = ({ calls, totalTokens, costUsd }: Amounts) => ({ replies: calls, input: totalTokens, costUsd });

/** Notes the attempt in every ledger, before anything of it is sent. */
function enterAll(
  ledgers: readonly (Ledger | undefined)[],
  bound: Amounts,
  { stage = 'other', isInStages }: ReservationOptions,
): OpenEntry {
  const entries = ledgers.flatMap((ledger) => ledger?.enter({ stage, inFlight: isInStages ? undefined : bound }) ?? []);
  return {
    note(now) {
      for (const entry of entries) entry.note(now);
    },
    end(now) {
      for (const entry of entries) entry.end(now);
    },
  };
}

/** The first amount that exceeds its limit. */
const exceeding = (amounts: Amounts, limits: Amounts) => AMOUNTS.find((name) => amounts[name] > limits[name]);
