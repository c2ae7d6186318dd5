import type { StageUsage } from './stage-usage.ts';

type Timed = { readonly ms: number; readonly usage: Readonly<Record<string, StageUsage>> };

/** Milliseconds of one rollout that had to be asked for: what the cache knew took no time. */
export function timeOfRollout({ ms, usage: { rollout } }: Timed): number | undefined {
  if (!rollout?.rollouts || rollout.replies === rollout.cacheHits) return undefined;
  return ms / (rollout.rollouts * (1 - rollout.cacheHits / rollout.replies));
}
