import type { AgentRunner, AgentSpending } from '../../core/contracts/index.ts';
import type { AgentsSpent } from '../../core/run/index.ts';
import { costUsd, type Price } from '../../models/index.ts';

const nothing: AgentsSpent = { calls: 0, costUsd: 0 };

/**
 * The same agents, and `tell` is told at each of their calls what all attempts have spent so far: they take minutes, and what is
 * written down of them comes with their end. Counts nothing that limits go by.
 */
export function watchSpending(tell: (spent: AgentsSpent) => void) {
  let ended = nothing;
  const atWork = new Map<object, AgentsSpent>();
  const told = () => tell([...atWork.values()].reduce(add, ended));
  return (agent: AgentRunner, price: Price | undefined): AgentRunner => ({
    ...agent,
    async run(request) {
      const onSpend = (now: AgentSpending) => {
        atWork.set(request, spentBy(now, price));
        told();
        request.onSpend?.(now);
      };
      try {
        return await agent.run({ ...request, onSpend });
      } finally {
        ended = add(ended, atWork.get(request) ?? nothing);
        atWork.delete(request);
      }
    },
  });
}

const spentBy = ({ calls, usage, costUsd: own = 0 }: AgentSpending, price: Price | undefined): AgentsSpent => ({
  calls,
  costUsd: price === undefined ? own : costUsd(usage, price),
});

const add = (a: AgentsSpent, b: AgentsSpent): AgentsSpent => ({
  calls: a.calls + b.calls,
  costUsd: a.costUsd + b.costUsd,
});
