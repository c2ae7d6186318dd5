import type { ChatModel, SkillOptConfig } from '../../core/contracts/index.ts';
import { type Amounts, type Ledger, largerAmounts, type StageUsage, type UsageTable } from '../../core/run/index.ts';
import {
  type Budget,
  costUsd,
  countMessages,
  createBudget,
  type Held,
  type Price,
  type Prices,
  priceOf,
  withBudget,
  withTimeLimit,
} from '../../models/index.ts';

type BudgetConfig = Pick<SkillOptConfig, 'maxCalls' | 'maxTotalTokens' | 'maxCostUsd' | 'maxMinutes' | 'prices'>;

export type RunBudgetOptions = {
  readonly config: BudgetConfig;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  /** What the run has used before, by stage: a resumed run has spent that already. */
  readonly usage: UsageTable;
  /** Where the run keeps what it has spent, if it does. */
  readonly ledger?: Ledger | undefined;
  /** Limits that it shares with other work, in place of its own. */
  readonly shared?: Budget | undefined;
};

export type ModelUse = { readonly signal: AbortSignal; readonly isForRollouts: boolean };

export type RunBudget = {
  /** `model` within the budget; its price is that of `original`, which it wraps. */
  readonly within: (model: ChatModel, original: ChatModel, use: ModelUse) => ChatModel;
  /** The limits themselves, for rollouts of more than one call. */
  readonly forRollouts: Budget;
  /** `model` until the time is over; around retries, which wait. */
  readonly untilOver: (model: ChatModel) => ChatModel;
  /** Keeps a part back, and what one more call may cost: otherwise the last call would not be sent. */
  readonly hold: (part: Held) => void;
  readonly release: () => void;
  /** Within these limits, at all starts. */
  readonly spent: () => Amounts;
};

/** Keeps all models together within the limits of the run, and notes every call in its ledger. */
export function runBudget(options: RunBudgetOptions): RunBudget {
  const { config, target, ledger } = options;
  const budget = options.shared ?? ownBudget(options);
  const { prices } = config;
  const rollouts = watchBounds(budget, unseenBound(priceFor(target, prices)));
  return {
    within: (model, original, { signal, isForRollouts }) =>
      withBudget(model, isForRollouts ? rollouts.budget : budget, {
        price: priceFor(original, prices),
        countTokens: countMessages,
        signal,
        ledger,
      }),
    forRollouts: rollouts.budget,
    untilOver: (model) => withTimeLimit(model, budget),
    hold: (part) => budget.hold(addBound(part, rollouts.largest())),
    release: budget.release,
    spent: budget.spent,
  };
}

function ownBudget({ config, target, optimizer, usage, ledger }: RunBudgetOptions): Budget {
  const { maxCalls, maxTotalTokens, maxCostUsd, maxMinutes, prices } = config;
  const journaled = spentBefore(usage, { target: priceFor(target, prices), optimizer: priceFor(optimizer, prices) });
  // The ledger also counts what failed and what may have been; where it is lost, the journal knows what was answered.
  const spent = ledger ? largerAmounts(journaled, ledger.spent().counted) : journaled;
  return createBudget({ maxCalls, maxTotalTokens, maxCostUsd, maxMinutes, spent, kills: ledger?.spent().kills });
}

/** The same budget, and the largest bound that was asked of it. */
function watchBounds(budget: Budget, unseen: Amounts) {
  let seen: Amounts | undefined;
  const reserve: Budget['reserve'] = (bound, ...how) => {
    seen = seen ? largerAmounts(seen, bound) : bound;
    return budget.reserve(bound, ...how);
  };
  return { budget: { ...budget, reserve }, largest: () => seen ?? unseen };
}

/** Before the first call of a start: a reply of the usual maximum length. */
function unseenBound(price: Price | undefined): Amounts {
  const output = 16_384;
  const dollars = price ? costUsd({ input: 0, cached: 0, output }, price) : 0;
  return { calls: 1, totalTokens: output, costUsd: dollars };
}

/** Calls need no bound: the last call is one of those that are kept. */
function addBound({ totalTokens = 0, costUsd: usd = 0, ...part }: Held, bound: Amounts): Held {
  return {
    ...part,
    totalTokens: totalTokens > 0 ? totalTokens + bound.totalTokens : 0,
    costUsd: usd > 0 ? usd + bound.costUsd : 0,
  };
}

function spentBefore(usage: UsageTable, prices: Record<'target' | 'optimizer', Price | undefined>): Amounts {
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

/** The price of a model, if known, under the name that its provider lists it by. */
export function priceFor(
  { modelName, id, isFree }: Pick<ChatModel, 'id' | 'modelName' | 'isFree'>,
  prices: Prices,
): Price | undefined {
  return priceOf(modelName ?? id, prices) ?? (isFree && { input: 0, cachedInput: 0, output: 0 });
}
