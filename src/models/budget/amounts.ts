/** What calls cost. */
export type Amounts = { readonly calls: number; readonly totalTokens: number; readonly costUsd: number };

export const noAmounts: Amounts = { calls: 0, totalTokens: 0, costUsd: 0 };

const names = Object.keys(noAmounts) as (keyof Amounts)[];

export function addAmounts(one: Amounts, other: Amounts): Amounts {
  return {
    calls: one.calls + other.calls,
    totalTokens: one.totalTokens + other.totalTokens,
    costUsd: toWholeNanos(one.costUsd + other.costUsd),
  };
}

export function subtractAmounts(one: Amounts, other: Amounts): Amounts {
  return {
    calls: one.calls - other.calls,
    totalTokens: one.totalTokens - other.totalTokens,
    costUsd: toWholeNanos(one.costUsd - other.costUsd),
  };
}

/** The first amount of which `amounts` has more than `limits`. */
export function exceeding(amounts: Amounts, limits: Amounts): keyof Amounts | undefined {
  return names.find((name) => amounts[name] > limits[name]);
}

/**
 * Dollars in whole billionths, rounded up. Sums and differences of such amounts are exact: what is set aside and given
 * back leaves nothing behind.
 */
export function roundUpAmounts(amounts: Amounts): Amounts {
  return { ...amounts, costUsd: Math.ceil(amounts.costUsd * 1e9) / 1e9 };
}

function toWholeNanos(usd: number): number {
  return Number.isFinite(usd) ? Math.round(usd * 1e9) / 1e9 : usd;
}
