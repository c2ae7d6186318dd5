import type { Amounts } from '../../core/run/index.ts';

export type { Amounts } from '../../core/run/index.ts';

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

export function multiplyAmounts({ calls, totalTokens, costUsd }: Amounts, factor: number): Amounts {
  return { calls: calls * factor, totalTokens: totalTokens * factor, costUsd: toWholeNanos(costUsd * factor) };
}

/** Of each the larger one. */
export function largerAmounts(one: Amounts, other: Amounts): Amounts {
  return {
    calls: Math.max(one.calls, other.calls),
    totalTokens: Math.max(one.totalTokens, other.totalTokens),
    costUsd: Math.max(one.costUsd, other.costUsd),
  };
}

/** How many times `part` fits into `whole`. */
export function timesWithin(part: Amounts, whole: Amounts): number {
  const times = names.filter((name) => part[name] > 0).map((name) => Math.floor(whole[name] / part[name]));
  return Math.min(...times);
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
