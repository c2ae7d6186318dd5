import {
  type AgentRunner,
  type ChatModel,
  type ChatRequest,
  noUsage,
  type PromptOverrides,
  type RolloutRunner,
  type RunCaches,
  type RunnerAnswer,
  type SkillOptConfig,
} from '../../core/contracts/index.ts';
import { knowKeysIn } from '../../core/guard/index.ts';
import {
  type Amounts,
  addStageUsage,
  addUsage,
  amountsIn,
  type Bill,
  type Ledger,
  loadingIn,
  noStageUsage,
  type RunObserver,
  type StageUsage,
  type Stamp,
  type UsageTable,
} from '../../core/run/index.ts';
import {
  atOnce,
  type Budget,
  countTokens,
  createLimiterPool,
  createMeter,
  type Meter,
  patienceFor,
  type RateLimitOptions,
  type Retry,
  remainingCalls,
  untilTimeIsOver,
  withCircuit,
  withCountedUsage,
  withMeter,
  withRateLimit,
  withReplyCache,
  withRetry,
  withTimeout,
} from '../../models/index.ts';
import { createStageDeps, type RolloutCache, type StageDeps, type Stop, stageSettings } from '../../pipeline/index.ts';
import { type ModelUse, priceFor, type RunBudgetOptions, runBudget } from '../budget/run-budget.ts';
import { notify } from '../record/recorder.ts';
import { createFailureTally, createReplyTally, createThrowTally } from '../record/tallies.ts';
import { watchSpending, wrapAgent } from './wrap-agent.ts';

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
  const { takeUsage, usageWith, budget, modelsUnder, countRollout, charge } = wrapModels(options);
  const limits = { budget: budget.forRollouts, ledger: options.ledger, charge, warn: onWarning };
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
    workers: atOnce(budget.forRollouts, config.workers),
    extras: config.extras,
    rollouts: caches && countNew(caches.rollouts, countNewRollout),
    workFolder: caches?.workFolder,
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
    usageWith,
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
  /** What was paid for before, and what may have been, that no line of the journal has counted. */
  readonly uncounted?: UsageTable;
};

/** The models in what every run needs: cache(timeLimit(circuit(retry(rateLimit(budget(meter(countedUsage(timeout(model))))))))). */
export function wrapModels(options: WrapOptions) {
  const { config, target, optimizer, judge, agent, caches, observers, stop, ledger, shared } = options;
  const { usage = {}, uncounted = {} } = options;
  const meter = createMeter();
  const budget = runBudget({ config, target, optimizer, usage: addStageUsage(usage, uncounted), ledger, shared });
  const trying = tryingAgain(options, meter);
  const lines = limiterPool(options, AGENT_CALLS * config.workers);
  for (const [stage, paid] of Object.entries(uncounted)) meter.add(stage, { ...paid, recovered: paid.replies });
  // Tokens of a remembered reply were paid before.
  const onHit = ({ stage = 'other' }: ChatRequest) => meter.add(stage, { replies: 1, cacheHits: 1 });
  const charge = ({ stage, amounts }: Bill) => meter.add(stage, amounts);

  const wrap = (model: ChatModel, use: ModelUse) => {
    const price = priceFor(model, config.prices);
    const metered = withMeter(withCountedUsage(withTimeout(model, config.callTimeoutMs)), meter, { price });
    const asked = budget.untilOver(trying(budget.within(metered, model, use), model, use.signal));
    return caches ? withReplyCache(asked, caches.replies, { onHit }) : asked;
  };
  /** The same for an agent, except for what belongs to single calls. Its work is kept as a rollout, not as a reply. */
  const watched = watchSpending((spent) => notify(observers, 'onSpend', spent));
  const wrapWorker = (worker: AgentRunner, signal: AbortSignal) => {
    const price = priceFor(worker, config.prices);
    // An agent that reports each call waits and asks again by itself: a whole attempt would cost all its turns again.
    const limiter = lines.sharedLimiter(worker.account ?? worker.id);
    const asking = worker.tellsSpending ? { maxRetries: config.maxRetries, limiter } : undefined;
    const wrapRuns = (model: ChatModel) => budget.untilOver(trying(model, asking ? {} : model, signal));
    return wrapAgent(watched(worker, price), {
      ...{ wrap: wrapRuns, charge, budget: budget.forRollouts, ledger },
      ...{ price, signal, asking },
    });
  };
  /** All stops share the meter and the limits. */
  const modelsUnder = ({ signal }: Stop) => ({
    agent: agent && wrapWorker(agent, signal),
    target: wrap(target, { signal, isForRollouts: true }),
    optimizer: wrap(optimizer, { signal, isForRollouts: false }),
    judge: judge && wrap(judge, { signal, isForRollouts: true }),
  });
  return { ...modelsUnder(stop), modelsUnder, budget, charge, ...counting(options, meter) };
}

function counting({ ledger }: WrapOptions, meter: Meter) {
  return {
    /** What was used since the last time. */
    takeUsage: (): Pick<Stamp, 'usage'> => ({ usage: meter.take() }),
    /** With what no event has counted: for the files about a run that stops before its end. The next start counts it. */
    usageWith: (usage: UsageTable): UsageTable => addStageUsage(usage, meter.take()),
    countRollout(text: string) {
      const loading = loadingIn(text);
      meter.add('rollout', { rollouts: 1, ...loading });
      if (Object.keys(loading).length > 0) ledger?.add('rollout', loading);
    },
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

/** Provider and host, without the part that identifies the key. */
const publicName = (account: string) => account.split(' ').slice(0, 2).join(' ');

type RunnerWrapping = {
  readonly budget: Budget;
  readonly ledger: Ledger | undefined;
  /** Counts what was paid. */
  readonly charge: (bill: Bill) => void;
  readonly warn: (message: string) => void;
};

/** A runner within the limits of a run. What it pays for by itself is counted, as far as it says so. */
function wrapRunner(runner: RolloutRunner, { budget, ledger, charge, warn }: RunnerWrapping): RolloutRunner {
  const bound: Amounts = { calls: 1, totalTokens: 0, costUsd: 0, ...runner.most };
  const unlimited = namesUnlimited(runner, budget.limits);
  return {
    async run(attempt, context) {
      unlimited.splice(0).forEach(warn); // at the first attempt
      const { signal } = context;
      const reservation = await budget.reserve(bound, [signal], { stage: 'rollout', ledger });
      try {
        const answer = await untilTimeIsOver(budget, signal, (until) =>
          runner.run(attempt, { ...context, signal: until }),
        );
        const paid = billsOf(answer, bound);
        const all = paid.reduce((sum, { amounts }) => addUsage(sum, amounts), noStageUsage);
        reservation.settle(amountsIn({ rollout: all }), all);
        paid.forEach(charge);
        return answer;
      } finally {
        reservation.fail(bound); // has no effect after an answer
      }
    },
  };
}

function billsOf({ bills, retries = 0, waitMs = 0 }: RunnerAnswer, most: Amounts): Bill[] {
  const { calls, totalTokens, costUsd } = most;
  const given = bills ?? [{ calls, usage: { ...noUsage, input: totalTokens }, costUsd }];
  const paid = given.map(({ calls: replies, usage, costUsd: dollars }) => {
    const price = dollars === undefined ? { unpriced: replies } : { costUsd: dollars };
    return { stage: 'rollout', amounts: { ...usage, replies, ...price } };
  });
  return [...paid, { stage: 'rollout', amounts: { retries, waitMs } }];
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
