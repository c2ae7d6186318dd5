import type { AgentRunner, ChatModel, ChatRequest, RunCaches, SkillOptConfig } from '../../core/contracts/index.ts';
import {
  type Amounts,
  addBills,
  addStageUsage,
  amountsIn,
  type Bill,
  type Ledger,
  loadingIn,
  type RunObserver,
  type Stamp,
  type UsageTable,
} from '../../core/run/index.ts';
import {
  type Budget,
  billFor,
  createLimiterPool,
  createMeter,
  keepBill,
  largerAmounts,
  type Price,
  remainingCalls,
  withCircuit,
  withCountedUsage,
  withMeter,
  withRateLimit,
  withReplyCache,
  withRetry,
  withTimeout,
} from '../../models/index.ts';
import type { Stop } from '../../pipeline/index.ts';
import { priceFor } from '../budget/price-for.ts';
import { type ModelUse, runBudget } from '../budget/run-budget.ts';
import { notify } from '../record/recorder.ts';
import { watchSpending } from './watch-spending.ts';
import { wrapAgent } from './wrap-agent.ts';

export type WrapOptions = {
  readonly config: SkillOptConfig;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly judge?: ChatModel | undefined;
  readonly agent?: AgentRunner | undefined;
  readonly caches: RunCaches | undefined;
  readonly observers: readonly RunObserver[];
  readonly stop: Stop;
  /** What the run has used before, by stage. */
  readonly usage?: Stamp['usage'];
  /** Replies that were paid for before and that no line of the journal has counted. */
  readonly uncounted?: readonly Bill[];
  /** Where the run keeps what it has spent, if it does. */
  readonly ledger?: Ledger | undefined;
  /** Limits that the run shares with other work, in place of its own. */
  readonly shared?: Budget | undefined;
};

/** The models in what every run needs: cache and meter(timeLimit(circuit(retry(rateLimit(budget(countedUsage(timeout(model)))))))). */
export function wrapModels({
  config,
  target,
  optimizer,
  judge,
  agent,
  caches,
  observers,
  stop,
  usage = {},
  uncounted = [],
  ledger,
  shared,
}: WrapOptions) {
  const meter = createMeter();
  const limiters = createLimiterPool((account) => ({
    initial: config.workers,
    max: config.workers,
    onChange: (change) => notify(observers, 'onRateLimit', { account: publicName(account), ...change }),
  }));
  const budget = runBudget({ config, target, optimizer, usage: addBills(usage, uncounted), ledger, shared });
  const countRetry = ({ request }: { readonly request: ChatRequest }) =>
    meter.add(request.stage ?? 'other', { retries: 1 });

  const countWait = ({ request, waitMs }: { readonly request: ChatRequest; readonly waitMs: number }) =>
    meter.add(request.stage ?? 'other', { waitMs });

  const paced = (model: ChatModel, { account }: ChatModel, signal: AbortSignal) =>
    account === undefined
      ? model
      : withRateLimit(model, limiters.sharedLimiter(account), {
          signal,
          remainingCalls,
          onRequeue: countRetry,
          onWait: countWait,
        });
  const retried = (model: ChatModel, signal: AbortSignal) =>
    withRetry(model, {
      maxRetries: config.maxRetries,
      signal,
      onRetry({ request, ...retry }) {
        countRetry({ request });
        notify(observers, 'onRetry', retry);
      },
    });
  const onHit = ({ stage = 'other' }: ChatRequest) => meter.add(stage, { replies: 1, cacheHits: 1 });
  const onPaid = ({ stage, amounts }: Bill) => meter.add(stage, amounts);
  // Tokens of a remembered reply were paid before. New ones are counted in the moment they are safe: see `counted`.
  const metered = (model: ChatModel, price: Price | undefined) =>
    caches
      ? withReplyCache(model, caches.replies, { onHit, onPaid, billFor: (reply) => billFor(reply, price) })
      : withMeter(model, meter, { price });
  for (const { stage, amounts } of uncounted)
    onPaid({ stage, amounts: { ...amounts, recovered: amounts.replies ?? 0 } });

  const wrap = (model: ChatModel, use: ModelUse) => {
    const limited = budget.within(withCountedUsage(withTimeout(model, config.callTimeoutMs)), model, use);
    const circuit = withCircuit(retried(paced(limited, model, use.signal), use.signal), config.maxConsecutiveFailures);
    return metered(budget.untilOver(circuit), priceFor(model, config.prices));
  };
  /** The same for an agent, but for what belongs to single calls. What it did is kept as a rollout, not as a reply. */
  const watched = watchSpending((spent) => notify(observers, 'onSpend', spent));
  const wrapWorker = (worker: AgentRunner, signal: AbortSignal) =>
    wrapAgent(watched(worker, priceFor(worker, config.prices)), {
      wrap: (model) =>
        budget.untilOver(withCircuit(retried(paced(model, model, signal), signal), config.maxConsecutiveFailures)),
      charge: (bill) => (caches ? keepBill(caches.replies, bill, onPaid) : onPaid(bill)),
      budget: budget.forRollouts,
      price: priceFor(worker, config.prices),
      signal,
    });
  const modelsUnder = ({ signal }: Stop) => ({
    agent: agent && wrapWorker(agent, signal),
    target: wrap(target, { signal, isForRollouts: true }),
    optimizer: wrap(optimizer, { signal, isForRollouts: false }),
    judge: judge && wrap(judge, { signal, isForRollouts: true }),
  });
  return {
    ...modelsUnder(stop),
    /** The same models, meter and limits for what continues after `stop` has fired. */
    modelsUnder,
    budget,
    /** What was used since the last time, and how far the cache's replies are part of that or of what was taken before. */
    takeUsage(): Pick<Stamp, 'usage' | 'counted'> {
      const counted = caches?.replies.mark?.();
      return { usage: meter.take(), ...(counted === undefined ? {} : { counted }) };
    },
    /** What was spent in all when a run is left before its end: kept where `show` and the next start find it. */
    keepSpent(usage: UsageTable): Amounts {
      const spent = largerAmounts(amountsIn(addStageUsage(usage, meter.take())), budget.spent());
      if (!budget.isKept && spent.calls > 0) ledger?.claim(spent, () => spent);
      return spent;
    },
    countRollout: (text: string) => meter.add('rollout', { rollouts: 1, ...loadingIn(text) }),
  };
}

/** Provider and host. What tells keys apart is for the pool alone. */
const publicName = (account: string) => account.split(' ').slice(0, 2).join(' ');
