import { type Amounts, addUsage, noStageUsage, type RunState } from '../../core/run/index.ts';
import type { Held } from '../../models/index.ts';

const WORDS = { purpose: 'the final measurement', others: 'the search' } as const;

/** Rollouts do not all cost the same: with their mean alone, every second measurement would fall short. */
const MARGIN = 1.1;

/** What `rollouts` more rollouts will need, judged by what those of the run have cost so far. */
export function reserveFor({ usage, history, rolloutMs }: RunState, rollouts: number): Held {
  const whole = costOfRollout(usage);
  const recent = costOfRollout(history.at(-1)?.tokens ?? {}); // under a longer skill than at the beginning
  const minutes = (MARGIN * rollouts * (rolloutMs ?? 0)) / 60_000;
  return {
    ...WORDS,
    minutes,
    calls: Math.ceil(withMargin(whole.calls) * rollouts),
    totalTokens: Math.ceil(MARGIN * rollouts * Math.max(whole.totalTokens, recent.totalTokens)),
    costUsd: MARGIN * rollouts * Math.max(whole.costUsd, recent.costUsd),
  };
}

/** As many calls for every rollout as for any other need no margin. */
const withMargin = (calls: number) => (Number.isInteger(calls) ? calls : MARGIN * calls);

/** In the mean, with the judge. Replies that the cache knew would have cost what the others did. */
export function costOfRollout(usage: RunState['usage']): Amounts {
  const { rollout = noStageUsage, judge = noStageUsage } = usage;
  const { replies, cacheHits, retries, input, output, costUsd, recovered = 0 } = addUsage(rollout, judge);
  const made = rollout.rollouts ?? rollout.replies; // an earlier version did not count them: one call each
  const ofMade = rollout.rollouts === undefined ? replies : replies - recovered;
  const perMade = (amount: number) => amount / Math.max(1, made);
  const perPaid = (amount: number) => amount / Math.max(1, replies - cacheHits);
  return {
    calls: made === 0 ? 1 : perMade(ofMade + retries), // nothing known: one call each
    totalTokens: perMade(ofMade * perPaid(input + output)),
    costUsd: perMade(ofMade * perPaid(costUsd)),
  };
}
