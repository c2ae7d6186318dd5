/** What calls cost. */
export type Amounts = { readonly calls: number; readonly totalTokens: number; readonly costUsd: number };
export const noAmounts: Amounts = { calls: 0, totalTokens: 0, costUsd: 0 };

export const AMOUNTS = Object.keys(noAmounts) as (keyof Amounts)[];

const combine = (one: Amounts, other: Amounts, of: (a: number, b: number) => number): Amounts => ({
  calls: of(one.calls, other.calls),
  totalTokens: of(one.totalTokens, other.totalTokens),
  costUsd: of(one.costUsd, other.costUsd),
});

export const addAmounts = (one: Amounts, other: Amounts) => inNanos(combine(one, other, (a, b) => a + b));
export const subtractAmounts = (one: Amounts, other: Amounts) => inNanos(combine(one, other, (a, b) => a - b));
export const largerAmounts = (one: Amounts, other: Amounts) => combine(one, other, Math.max);

/** Dollars in whole billionths, rounded up: sums and differences of such amounts are exact. */
export const roundUpAmounts = (amounts: Amounts) => ({ ...amounts, costUsd: Math.ceil(amounts.costUsd * 1e9) / 1e9 });

const inNanos = (amounts: Amounts): Amounts => ({ ...amounts, costUsd: toNanos(amounts.costUsd) });

export const toNanos = (usd: number) => (Number.isFinite(usd) ? Math.round(usd * 1e9) / 1e9 : usd);
