import { type Cost, callWords } from '../core/run/index.ts';

/** Dollars are not known to reports of earlier versions. */
type Amounts = Pick<Cost, 'calls' | 'tokens'> & Partial<Pick<Cost, 'costUsd'>>;

/** A cost, the same from each tool. Calls that were in flight at a kill may have been paid for: then it is not the whole. */
export const costFacts = (cost: Amounts & Partial<Cost>) => ({
  ...amounts(cost),
  isWhole: (cost.isPriced ?? false) && cost.mayHaveBeen === undefined,
  mayHaveBeen: cost.mayHaveBeen ? amounts(cost.mayHaveBeen) : null,
  words: callWords(cost),
});

const amounts = ({ calls, tokens, costUsd }: Amounts) => ({
  ...{ calls, tokens },
  usd: costUsd === undefined ? null : inDollars(costUsd),
});

/** Sums of prices have digits that mean nothing. What costs something is never free. */
export const inDollars = (usd: number): number => (usd > 0 ? Math.max(0.0001, Number(usd.toFixed(4))) : usd);
