import { AMOUNTS } from '../../core/run/index.ts';
import { plural } from '../../core/text/index.ts';
import type { Budget } from './budget.ts';

type Killed = Pick<Budget, 'kills' | 'limits'>;

/**
 * How many calls of `workers` may be in flight at once: half as many for each kill before, and at least one. A call in flight at a
 * kill counts at its most, which it rarely costs: all of them would use up a limit that pays for the work. Without limits, `workers`.
 */
export function atOnce({ kills, limits }: Killed, workers: number): number {
  const isLimited = AMOUNTS.some((name) => limits[name] !== Number.POSITIVE_INFINITY);
  return isLimited ? Math.max(1, Math.floor(workers / 2 ** kills)) : workers;
}

/** Says why fewer calls than `workers` are in flight at once; nothing where all are. */
export function whyFewer(budget: Killed, workers: number): string[] {
  const now = atOnce(budget, workers);
  if (now === workers) return [];
  const times = budget.kills === 1 ? 'once' : plural(budget.kills, 'time');
  return [
    `Killed ${times} with calls in flight, which count against the limits at their most: ${plural(now, 'call')} at once now, not ${workers}.`,
  ];
}
