import type { Evidence } from './evidence.ts';

export type RefreshInput = {
  readonly items: readonly string[];
  readonly incumbent: Evidence;
  /** Rollouts per step, as a share of the items. */
  readonly share: number;
  /** A uniform draw from [0, 1): decides about the fraction, so that the mean rate is exact. */
  readonly draw: number;
};

/** The incumbent's items to roll again in this step: those with the fewest rollouts, earlier in the list first. */
export function refreshPlan({ items, incumbent, share, draw }: RefreshInput): string[] {
  const wanted = Math.min(items.length, Math.floor(share * items.length + draw));
  if (wanted === 0) return [];
  const countOf = (id: string) => incumbent.get(id)?.count ?? 0;
  return [...items].sort((a, b) => countOf(a) - countOf(b)).slice(0, wanted);
}
