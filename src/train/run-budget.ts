import type { SkillOptConfig } from '../core/config.ts';
import type { StageUsage } from '../core/event.ts';
import type { Amounts, Ledger } from '../core/ledger.ts';
import type { ChatModel } from '../core/model.ts';
import { costUsd, countMessages, createBudget, type Price, withBudget } from '../models/index.ts';
import { priceFor } from './price-for.ts';

type BudgetConfig = Pick<SkillOptConfig, 'maxCalls' | 'maxTotalTokens' | 'maxCostUsd' | 'maxMinutes' | 'prices'>;

type RunBudgetOptions = {
  readonly config: BudgetConfig;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  /** What the run has used before, by stage: a run that goes on has spent that already. */
  readonly usage: Readonly<Record<string, StageUsage>>;
  /** Where the run keeps what it has spent, if it does. */
  readonly ledger?: Ledger | undefined;
  readonly signal: AbortSignal;
};

/** `model` within the budget; its price is that of `original`, which it wraps. */
type Budgeted = (model: ChatModel, original: ChatModel) => ChatModel;

/** Keeps both models within the limits of the run, together. Without a limit, calls are not even counted. */
export function runBudget({ config, target, optimizer, usage, ledger, signal }: RunBudgetOptions): Budgeted {
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes, prices } = config;
  const limits = { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes };
  if (Object.values(limits).every((limit) => limit === undefined)) return (model) => model;
  const journaled = spentBefore(usage, { target: priceFor(target, prices), optimizer: priceFor(optimizer, prices) });
  // The journal lacks what an unfinished step has spent; the ledger, what a run has spent while it had no limit.
  const spent = ledger ? larger(journaled, ledger.before) : journaled;
  const isCounted = [maxCalls, maxTotalTokens, maxCostUsd].some((limit) => limit !== undefined);
  const budget = createBudget({ ...limits, spent, ledger: isCounted ? ledger : undefined });
  return (model, original) =>
    withBudget(model, budget, { price: priceFor(original, prices), countTokens: countMessages, signal });
}

type Prices = { readonly target: Price | undefined; readonly optimizer: Price | undefined };

function spentBefore(usage: Readonly<Record<string, StageUsage>>, prices: Prices): Amounts {
  const stages = Object.entries(usage);
  const add = (amount: (stage: StageUsage, name: string) => number) =>
    stages.reduce((sum, [name, stage]) => sum + amount(stage, name), 0);
  return {
    calls: add(({ replies, cacheHits, retries }) => replies - cacheHits + retries),
    totalTokens: add(({ input, output }) => input + output),
    costUsd: add((stage, name) => {
      const price = name === 'rollout' ? prices.target : prices.optimizer;
      return stage.costUsd || (price ? costUsd(stage, price) : 0); // journals of earlier versions have no dollars
    }),
  };
}

function larger(one: Amounts, other: Amounts): Amounts {
  return {
    calls: Math.max(one.calls, other.calls),
    totalTokens: Math.max(one.totalTokens, other.totalTokens),
    costUsd: Math.max(one.costUsd, other.costUsd),
  };
}
