import { SkillError } from '../../core/contracts/index.ts';
import { count, dollars } from '../../core/text/index.ts';
import { type CostEstimate, rangeText } from '../../report/index.ts';
import type { Range } from '../../train/index.ts';

type Caps = {
  readonly maxCalls?: number | undefined;
  readonly maxTotalTokens?: number | undefined;
  readonly maxCostUsd?: number | undefined;
};

type Compared = {
  readonly flag: string;
  readonly cap: number;
  readonly need: Range;
  readonly show: (value: number) => string;
  /** The amount with its unit. */
  readonly name: (amount: string) => string;
};

/** Throws `BUDGET_EXHAUSTED` when even the least that a run can need is above a cap: it would stop before its end. */
export function requireWithinCaps(costs: CostEstimate, caps: Caps): void {
  const [first] = compare(costs, caps).filter(({ need, cap }) => need.low > cap);
  if (!first) return;
  const { flag, need, show, name, cap } = first;
  throw new SkillError(
    'BUDGET_EXHAUSTED',
    `this run needs at least ${name(show(need.low))}, and ${flag} is ${name(show(cap))}`,
    {
      hint: 'Raise the limit, train on less (skillopt estimate shows the stages), or begin all the same: --ignore-estimate.',
    },
  );
}

/** What to tell of a cap that the run may reach, and may not. */
export function capWarnings(costs: CostEstimate, caps: Caps): string[] {
  return compare(costs, caps)
    .filter(({ need, cap }) => need.low <= cap && need.high > cap)
    .map(
      ({ flag, need, show, name, cap }) =>
        `this run may need ${name(reach(need, show))}; it stops at ${flag} ${show(cap)}`,
    );
}

const unit = (word: string) => (amount: string) => `${amount} ${word}${amount === '1' ? '' : 's'}`;

/** How far nobody knows before an agent has worked once. */
const reach = (need: Range, show: (value: number) => string) =>
  Number.isFinite(need.high) ? rangeText(need, show) : `${show(need.low)} or more`;

function compare(costs: CostEstimate, { maxCalls, maxTotalTokens, maxCostUsd }: Caps): Compared[] {
  const { calls, tokens, usd } = needsOf(costs);
  const all = [
    { flag: '--max-calls', cap: maxCalls, need: calls, show: count, name: unit('call') },
    { flag: '--max-total-tokens', cap: maxTotalTokens, need: tokens, show: count, name: unit('token') },
    { flag: '--max-cost-usd', cap: maxCostUsd, need: usd, show: dollars, name: (amount: string) => `$${amount}` },
  ];
  return all.filter((row): row is Compared => row.cap !== undefined && row.need !== null);
}

/** With what the agent will take: limits are of the whole run. */
function needsOf({ totals, totalUsd, agent }: CostEstimate) {
  const { calls, tokens } = totals;
  if (agent === undefined) return { calls, tokens, usd: totalUsd };
  const { rollouts, perRollout, mostUsd } = agent;
  const usual = (of: 'tokens' | 'usd') => rollouts.high * (perRollout?.[of] ?? Number.POSITIVE_INFINITY);
  return {
    calls: { low: calls.low + agent.calls.low, high: calls.high + agent.calls.high },
    tokens: { low: tokens.low, high: tokens.high + usual('tokens') },
    usd: totalUsd && { low: totalUsd.low, high: totalUsd.high + (mostUsd ?? usual('usd')) },
  };
}
