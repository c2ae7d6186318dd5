import { type Amounts, addAmounts, largerAmounts, noAmounts, roundUpAmounts, subtractAmounts } from './amounts.ts';

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
export type Way = { readonly isInStages?: boolean | undefined };

/** What a budget has counted. */
export type Counts = {
  spent: Amounts;
  /** Set aside for attempts in flight. */
  reserved: Amounts;
  /** The part of that which a kill may have spent. */
  reached: Amounts;
};

type Books = {
  readonly counts: Counts;
  /** Makes sure that a kill cannot forget what is about to be spent. */
  readonly claim: ((bound: Amounts, times?: number) => void) | undefined;
  readonly onEnd: (bound: Amounts, actual: Amounts) => void;
};

/** Sets `bound` aside: there is enough for it. */
export function openReservation(bound: Amounts, { isInStages = false }: Way, books: Books): Reservation {
  const { counts, onEnd } = books;
  const { reach, reached } = openStages(books, isInStages);
  if (!isInStages) reach(bound);
  counts.reserved = addAmounts(counts.reserved, bound);
  let isOpen = true;
  const end = (actual: Amounts) => {
    if (!isOpen) return;
    isOpen = false;
    counts.reached = subtractAmounts(counts.reached, reached());
    counts.reserved = subtractAmounts(counts.reserved, bound);
    counts.spent = addAmounts(counts.spent, roundUpAmounts(actual));
    onEnd(bound, actual);
  };
  return { settle: end, release: () => end(noAmounts), reach: (most) => isOpen && reach(roundUpAmounts(most)) };
}

/** How far one attempt may have come. */
function openStages({ counts, claim }: Books, isInStages: boolean) {
  let own = noAmounts;
  return {
    reached: () => own,
    reach(most: Amounts) {
      claim?.(largerAmounts(subtractAmounts(most, own), noAmounts), isInStages ? 1 : undefined);
      counts.reached = addAmounts(subtractAmounts(counts.reached, own), most);
      own = most;
    },
  };
}
