import type { SkillOptConfig } from '../core/config.ts';
import type { StageUsage } from '../core/event.ts';
import type { ChatModel } from '../core/model.ts';
import { type Budget, costUsd, countMessages, createBudget, type Price, priceOf, withBudget } from '../models/index.ts';

type BudgetConfig = Pick<SkillOptConfig, 'maxCalls' | 'maxTotalTokens' | 'maxCostUsd' | 'maxMinutes' | 'prices'>;

type RunBudgetOptions = {
  readonly config: BudgetConfig;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  /** What the run has used before, by stage: a run that goes on has spent that already. */
  readonly usage: Readonly<Record<string, StageUsage>>;
  readonly signal: AbortSignal;
};

/** `model` within the budget; its price is that of `original`, which it wraps. */
type Budgeted = (model: ChatModel, original: ChatModel) => ChatModel;

/** Keeps both models within the limits of the run, together. Without a limit, calls are not even counted. */
export function runBudget({ config, target, optimizer, usage, signal }: RunBudgetOptions): Budgeted {
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes, prices } = config;
  const limits = { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes };
  if (Object.values(limits).every((limit) => limit === undefined)) return (model) => model;
  const priceFor = (model: ChatModel) => priceOf(model.modelName ?? model.id, prices);
  const spent = spentBefore(usage, { target: priceFor(target), optimizer: priceFor(optimizer) });
  const budget: Budget = createBudget({ ...limits, spent });
  return (model, original) =>
    withBudget(model, budget, { price: priceFor(original), countTokens: countMessages, signal });
}

type Prices = { readonly target: Price | undefined; readonly optimizer: Price | undefined };

function spentBefore(usage: Readonly<Record<string, StageUsage>>, prices: Prices) {
  const stages = Object.entries(usage);
  const add = (amount: (stage: StageUsage, name: string) => number) =>
    stages.reduce((sum, [name, stage]) => sum + amount(stage, name), 0);
  return {
    calls: add(({ replies, cacheHits, retries }) => replies - cacheHits + retries),
    totalTokens: add(({ input, output }) => input + output),
    costUsd: add((stage, name) => {
      const price = name === 'rollout' ? prices.target : prices.optimizer;
      return price ? costUsd(stage, price) : 0;
    }),
  };
}
