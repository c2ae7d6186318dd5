import { noUsage, type RolloutRunner, type RunnerSpending } from '../../core/contracts/index.ts';
import type { Amounts, Bill, Ledger } from '../../core/run/index.ts';
import { type Budget, untilTimeIsOver } from '../../models/index.ts';

type RunnerWrapping = {
  readonly budget: Budget;
  readonly ledger: Ledger | undefined;
  /** Counts what was paid. */
  readonly charge: (bill: Bill) => void;
  readonly warn: (message: string) => void;
};

/** A runner within the limits of a run. What its attempts cost is counted, as far as it says so. */
export function wrapRunner(runner: RolloutRunner, { budget, ledger, charge, warn }: RunnerWrapping): RolloutRunner {
  const bound: Amounts = { calls: 1, totalTokens: 0, costUsd: 0, ...runner.most };
  const unlimited = namesUnlimited(runner, budget.limits);
  return {
    async run(attempt, signal) {
      unlimited.splice(0).forEach(warn); // at the first attempt
      const reservation = await budget.reserve(bound, [signal], { stage: 'rollout', ledger });
      let spent: RunnerSpending = { ...bound, usage: { ...noUsage, input: bound.totalTokens } };
      const onSpent = (told: RunnerSpending) => {
        spent = told;
      };
      try {
        return await untilTimeIsOver(budget, signal, (until) => runner.run(attempt, until, onSpent));
      } finally {
        const { calls, usage, costUsd } = spent;
        const priced = costUsd === undefined ? { unpriced: calls } : { costUsd };
        const amounts = { ...usage, replies: calls, ...priced };
        const actual = { calls, totalTokens: usage.input + usage.output, costUsd: costUsd ?? 0 };
        reservation.settle(actual, amounts);
        charge({ stage: 'rollout', amounts });
      }
    },
  };
}

const LIMITS = { totalTokens: 'maxTotalTokens', costUsd: 'maxCostUsd' } as const;

function namesUnlimited({ most = {} }: RolloutRunner, limits: Amounts): string[] {
  const names = (['totalTokens', 'costUsd'] as const).filter((name) => {
    return limits[name] !== Number.POSITIVE_INFINITY && most[name] === undefined;
  });
  return names.map((name) => {
    return `${LIMITS[name]} does not limit the runner, which does not say what an attempt may cost (most.${name})`;
  });
}
