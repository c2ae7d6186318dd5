import type {
  AgentRunner,
  ChatModel,
  ChatRequest,
  PromptOverrides,
  RolloutRunner,
  RunCaches,
  SkillOptConfig,
} from '../../core/contracts/index.ts';
import { knowKeysIn } from '../../core/guard/index.ts';
import {
  type Amounts,
  addBills,
  addStageUsage,
  amountsIn,
  type Bill,
  loadingIn,
  type RunObserver,
  type StageUsage,
  type Stamp,
  type UsageTable,
} from '../../core/run/index.ts';
import {
  billFor,
  countTokens,
  createLimiterPool,
  createMeter,
  keepBill,
  largerAmounts,
  type Meter,
  type Price,
  patienceFor,
  type RateLimitOptions,
  type Retry,
  remainingCalls,
  withCircuit,
  withCountedUsage,
  withMeter,
  withRateLimit,
  withReplyCache,
  withRetry,
  withTimeout,
} from '../../models/index.ts';
import { createStageDeps, type RolloutCache, type StageDeps, type Stop, stageSettings } from '../../pipeline/index.ts';
import { type ModelUse, priceFor, type RunBudget, type RunBudgetOptions, runBudget } from '../budget/run-budget.ts';
import { notify } from '../record/recorder.ts';
import { createFailureTally, createReplyTally, createThrowTally } from '../record/tallies.ts';
import { watchSpending, wrapAgent } from './wrap-agent.ts';
import { wrapRunner } from './wrap-runner.ts';

type RunDepsOptions = WrapOptions & {
  readonly promptOverrides: PromptOverrides;
  readonly runner?: RolloutRunner | undefined;
  readonly onProgress: StageDeps['onProgress'];
  readonly onWarning: (message: string) => void;
};

/**
 * What the stages of one run reach for, with its models wrapped in what every run needs. `depsUnder` gives the same under
 * another stop: for work after the first one has fired.
 */
export function createRunDeps({ promptOverrides, onProgress, onWarning, ...options }: RunDepsOptions) {
  const { config, caches, stop } = options;
  knowKeysIn(config.extras); // an environment may return them with its results
  const { takeUsage, keepSpent, budget, modelsUnder, countRollout, charge } = wrapModels(options);
  const limits = { budget: budget.forRollouts, charge, warn: onWarning };
  const runner = options.runner && wrapRunner(options.runner, limits);
  const replies = createReplyTally();
  const thrown = createThrowTally(onWarning);
  const failed = createFailureTally();
  const countNewRollout = (text: string) => {
    countRollout(text);
    failed.count(text);
  };
  const common = {
    ...stageSettings(config),
    workers: config.workers,
    extras: config.extras,
    rollouts: caches && countNew(caches.rollouts, countNewRollout),
    promptOverrides,
    runner,
    countTokens,
    onAnswer: replies.count,
    onThrown: thrown.count,
  };
  const depsUnder = (stop: Stop, onProgress: StageDeps['onProgress']) =>
    createStageDeps({ ...modelsUnder(stop), ...common, stop, onProgress });
  return {
    deps: depsUnder(stop, onProgress),
    depsUnder,
    budget,
    keepSpent,
    takeUsage,
    takeCounts: () => ({ ...takeUsage(), ...thrown.take(), ...failed.take() }),
    takeAnswers: replies.take,
  };
}

/** Counts what is saved: it was made just now. */
function countNew(cache: RolloutCache, count: (text: string) => void): RolloutCache {
  const held = new Map<string, string>();
  return {
    get: async (key) => held.get(key) ?? cache.get(key),
    hold: (key, value) => void held.set(key, value),
    set(key, value) {
      count(value);
      return cache.set(key, value);
    },
    flush: () => cache.flush?.(),
  };
}

type WrapOptions = Omit<RunBudgetOptions, 'config' | 'usage'> & {
  readonly config: SkillOptConfig;
  readonly usage?: UsageTable;
  readonly judge?: ChatModel | undefined;
  readonly agent?: AgentRunner | undefined;
  readonly caches: RunCaches | undefined;
  readonly observers: readonly RunObserver[];
  readonly stop: Stop;
  /** Replies that were paid for before, and that no line of the journal has counted. */
  readonly uncounted?: readonly Bill[];
};

/** The models in what every run needs: cache and meter(timeLimit(circuit(retry(rateLimit(budget(countedUsage(timeout(model)))))))). */
export function wrapModels(options: WrapOptions) {
  const { config, target, optimizer, judge, agent, caches, observers, stop, ledger, shared } = options;
  const { usage = {}, uncounted = [] } = options;
  const meter = createMeter();
  const budget = runBudget({ config, target, optimizer, usage: addBills(usage, uncounted), ledger, shared });
  const trying = tryingAgain(options, meter);
  const lines = limiterPool(options, AGENT_CALLS * config.workers);
  const agentCalls = ({ account, id }: AgentRunner) => {
    return { maxRetries: config.maxRetries, limiter: lines.sharedLimiter(account ?? id) };
  };
  const { metered, charge } = billing(caches, meter);
  for (const { stage, amounts } of uncounted) meter.add(stage, { ...amounts, recovered: amounts.replies ?? 0 });

  const wrap = (model: ChatModel, use: ModelUse) => {
    const limited = budget.within(withCountedUsage(withTimeout(model, config.callTimeoutMs)), model, use);
    return metered(budget.untilOver(trying(limited, model, use.signal)), priceFor(model, config.prices));
  };
  /** The same for an agent, except for what belongs to single calls. Its work is kept as a rollout, not as a reply. */
  const watched = watchSpending((spent) => notify(observers, 'onSpend', spent));
  const wrapWorker = (worker: AgentRunner, signal: AbortSignal) => {
    const price = priceFor(worker, config.prices);
    // One that tells of each call waits and asks again by itself: a whole attempt would cost all its turns again.
    const asking = worker.tellsSpending ? agentCalls(worker) : undefined;
    const wrapRuns = (model: ChatModel) => budget.untilOver(trying(model, asking ? {} : model, signal));
    return wrapAgent(watched(worker, price), {
      wrap: wrapRuns,
      charge,
      budget: budget.forRollouts,
      price,
      signal,
      asking,
    });
  };
  /** All stops share the meter and the limits. */
  const modelsUnder = ({ signal }: Stop) => ({
    agent: agent && wrapWorker(agent, signal),
    target: wrap(target, { signal, isForRollouts: true }),
    optimizer: wrap(optimizer, { signal, isForRollouts: false }),
    judge: judge && wrap(judge, { signal, isForRollouts: true }),
  });
  return { ...modelsUnder(stop), modelsUnder, budget, charge, ...counting(options, meter, budget) };
}

function counting({ caches, ledger }: WrapOptions, meter: Meter, budget: RunBudget) {
  return {
    /** What was used since the last time, and how far the replies in the cache are part of all usages so far. */
    takeUsage(): Pick<Stamp, 'usage' | 'counted'> {
      const counted = caches?.replies.mark?.();
      return { usage: meter.take(), ...(counted === undefined ? {} : { counted }) };
    },
    /** Keeps what a run that stops before its end has spent, where `show` and the next start find it. */
    keepSpent(usage: UsageTable): Amounts {
      const spent = largerAmounts(amountsIn(addStageUsage(usage, meter.take())), budget.spent());
      if (!budget.isKept && spent.calls > 0) ledger?.claim(spent, () => spent);
      return spent;
    },
    countRollout: (text: string) => meter.add('rollout', { rollouts: 1, ...loadingIn(text) }),
  };
}

/** Some agents ask several times at once. */
const AGENT_CALLS = 4;

const limiterPool = ({ config, observers }: WrapOptions, most: number) =>
  createLimiterPool((account) => ({
    initial: most,
    max: most,
    patienceMs: patienceFor(config.maxRetries),
    onChange: (change) => notify(observers, 'onRateLimit', { account: publicName(account), ...change }),
  }));

/** circuit(retry(rateLimit(model))) */
function tryingAgain(options: WrapOptions, meter: Meter) {
  const { config, observers } = options;
  const limiters = limiterPool(options, config.workers);
  const count = ({ stage = 'other' }: ChatRequest, amounts: Partial<StageUsage>) => meter.add(stage, amounts);
  return (model: ChatModel, { account }: Pick<ChatModel, 'account'>, signal: AbortSignal): ChatModel => {
    const pacing: RateLimitOptions = {
      signal,
      remainingCalls,
      onRequeue: ({ request }) => count(request, { retries: 1 }),
      onWait: ({ request, waitMs }) => count(request, { waitMs }),
    };
    const paced = account === undefined ? model : withRateLimit(model, limiters.sharedLimiter(account), pacing);
    const onRetry = ({ request, ...retry }: Retry) => {
      count(request, { retries: 1 });
      notify(observers, 'onRetry', retry);
    };
    const retried = withRetry(paced, { maxRetries: config.maxRetries, signal, onRetry });
    return withCircuit(retried, config.maxConsecutiveFailures);
  };
}

/** Tokens of a remembered reply were paid before. New ones are counted when they are safe: see `counted`. */
function billing(caches: RunCaches | undefined, meter: Meter) {
  const onHit = ({ stage = 'other' }: ChatRequest) => meter.add(stage, { replies: 1, cacheHits: 1 });
  const onPaid = ({ stage, amounts }: Bill) => meter.add(stage, amounts);
  return {
    metered: (model: ChatModel, price: Price | undefined) =>
      caches
        ? withReplyCache(model, caches.replies, { onHit, onPaid, billFor: (reply) => billFor(reply, price) })
        : withMeter(model, meter, { price }),
    charge: (bill: Bill) => (caches ? keepBill(caches.replies, bill, onPaid) : onPaid(bill)),
  };
}

/** Provider and host, without what tells keys apart. */
const publicName = (account: string) => account.split(' ').slice(0, 2).join(' ');
