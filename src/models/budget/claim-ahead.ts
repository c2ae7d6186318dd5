import type { Ledger } from '../../core/run/index.ts';
import { type Amounts, addAmounts, exceeding, multiplyAmounts, noAmounts, timesWithin } from './amounts.ts';

/** So many calls are claimed at once, since a claim writes to disk. */
const MOST_CALLS = 32;
/** But no more than this part of what is left: a killed process loses what it had claimed and not used. */
const SHARE = 1 / 8;

type Accounts = {
  /** What is spent, and what a kill may have spent of what is set aside. */
  readonly used: () => Amounts;
  readonly left: () => Amounts;
};

/** Claims what is about to be spent, and some more calls like it, unless an earlier claim still covers it. */
export function claimAhead(ledger: Pick<Ledger, 'claim'>, { used, left }: Accounts) {
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
