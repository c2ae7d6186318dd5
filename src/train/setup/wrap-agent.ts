import type {
  AgentLimits,
  AgentRun,
  AgentRunner,
  AgentRunRequest,
  AgentSpending,
  ChatMessage,
  ChatModel,
} from '../../core/contracts/index.ts';
import {
  type AgentsSpent,
  type Amounts,
  amountsIn,
  type Bill,
  type Ledger,
  noStageUsage,
  paidBeyond,
  type StageUsage,
} from '../../core/run/index.ts';
import { defined } from '../../core/text/index.ts';
import { type Budget, costUsd, type Price, type Reservation } from '../../models/index.ts';

type AgentWrapping = {
  /** What models are wrapped in: time limit, circuit, retries, rate limit. */
  readonly wrap: (model: ChatModel) => ChatModel;
  /** Counts what was paid. */
  readonly charge: (bill: Bill) => void;
  readonly budget: Budget;
  readonly ledger: Ledger | undefined;
  readonly price: Price | undefined;
  readonly signal: AbortSignal;
  readonly asking: AgentRunRequest['asking'];
};

/** An agent in what every run needs. A run of it, with all its turns, is retried, limited and counted like one call. */
export function wrapAgent(agent: AgentRunner, wrapping: AgentWrapping): AgentRunner {
  const jobs = new WeakMap<readonly ChatMessage[], () => Promise<AgentRun>>();
  const { id, account, modelName } = agent;
  const model = wrapping.wrap({
    id,
    ...defined({ account, modelName }),
    async complete({ messages }) {
      const { text, usage } = await jobs.get(messages)!();
      return { text, usage, finishReason: 'stop' };
    },
  });
  return {
    ...agent,
    async run(request) {
      const { prompt, stage = 'rollout', sampleIndex, signal } = request;
      const messages = [{ role: 'user', content: prompt }] as const;
      let done: AgentRun | undefined;
      jobs.set(messages, async () => {
        done = await runWithin(agent, request, wrapping);
        return done;
      });
      await model.complete({ messages, stage, sampleIndex, signal });
      return done!;
    },
  };
}

/** Limits of an attempt that has none of its own: a limit of the whole run must be able to hold it. */
const USUAL_MOST = { turns: 100, tokens: 4_000_000 };
/** Limits are checked between two calls of the model, so that the last call may exceed them. */
const LAST_CALL = { input: 200_000, cached: 0, output: 32_000 };

/** How many tokens must be free before an attempt with this limit begins. */
export const mostTokensOf = (maxTokens: number) => maxTokens + LAST_CALL.input + LAST_CALL.output;

/** One run within the limits. Each call of its model is counted when it is answered, whatever becomes of the run. */
async function runWithin(agent: AgentRunner, request: AgentRunRequest, wrapping: AgentWrapping): Promise<AgentRun> {
  const { budget, price, charge, asking } = wrapping;
  const { stage = 'rollout' } = request;
  const limits = limitsWithin(request.limits, budget.limits, price);
  const reservation = await reserveFor({ ...request, limits, stage }, agent, wrapping);
  let billed: Partial<StageUsage> | undefined;
  const bill = (answered: Partial<StageUsage>) => {
    charge({ stage, amounts: paidBeyond(answered, billed ?? {}) });
    billed = answered;
    return answered;
  };
  const limit = new AbortController();
  const onSpend = (now: AgentSpending) => {
    const { calls, inFlight = 0, answered: turns = calls - inFlight, usage, most } = now;
    const answered = billFor({ ...now, turns, calls: calls - inFlight }, price);
    const totalTokens = Math.max(0, most.totalTokens - usage.input - usage.output);
    const dollars = Math.max(0, most.costUsd - (dollarsOf(now, price) ?? 0));
    try {
      reservation.reach(answered, { calls: inFlight, totalTokens, costUsd: dollars });
      bill(answered);
    } catch (error) {
      limit.abort(error); // the agent would take a call that fails for an answer of its model
      throw error;
    }
  };
  const settle = (answered: Partial<StageUsage>) =>
    reservation.settle(amountsIn({ [stage]: { ...noStageUsage, ...answered } }), answered);
  try {
    const signal = AbortSignal.any([request.signal, limit.signal]);
    const run = await agent.run({ ...request, limits, signal, onSpend, asking });
    settle(bill(billFor(run, price)));
    return run;
  } catch (error) {
    if (billed) settle(billed);
    else reservation.fail(ONE_CALL);
    throw error;
  }
}

/** For a run that failed and did not report its spending. */
const ONE_CALL: Amounts = { calls: 1, totalTokens: 0, costUsd: 0 };

function reserveFor(
  { limits, signal: own, stage }: AgentRunRequest,
  { tellsSpending }: AgentRunner,
  { budget, ledger, price, signal }: AgentWrapping,
): Promise<Reservation> {
  const bound = boundOf(limits, budget.limits, price);
  return budget.reserve(bound, [own, signal], { isInStages: tellsSpending, stage, ledger });
}

type Cost = Pick<AgentRun, 'turns' | 'calls' | 'usage'> & { readonly costUsd?: number | undefined };

function billFor(cost: Cost, price: Price | undefined): Partial<StageUsage> {
  const { turns, calls = turns, usage } = cost;
  const dollars = dollarsOf(cost, price);
  const retries = Math.max(0, calls - turns);
  return { ...usage, replies: turns, retries, ...(dollars === undefined ? { unpriced: turns } : { costUsd: dollars }) };
}

const dollarsOf = ({ costUsd: own, usage }: Omit<Cost, 'turns'>, price: Price | undefined) =>
  price === undefined ? own : costUsd(usage, price);

const isLimited = (amount: number) => amount !== Number.POSITIVE_INFINITY;

/** Where the whole run has a limit, so has each attempt. */
function limitsWithin(limits: AgentLimits, all: Amounts, price: Price | undefined): AgentLimits {
  const { maxTurns = USUAL_MOST.turns, maxTokens = USUAL_MOST.tokens } = limits;
  const usd = price && costUsd({ input: maxTokens, cached: 0, output: 0 }, price);
  return {
    ...limits,
    ...(isLimited(all.calls) ? { maxTurns } : {}),
    ...(isLimited(all.totalTokens) ? { maxTokens } : {}),
    ...(isLimited(all.costUsd) && usd !== undefined ? { maxUsd: limits.maxUsd ?? usd } : {}),
  };
}

function boundOf({ maxTurns = 0, maxTokens = 0, maxUsd = 0 }: AgentLimits, all: Amounts, price: Price | undefined) {
  return {
    calls: isLimited(all.calls) ? maxTurns + 1 : 1,
    totalTokens: isLimited(all.totalTokens) ? mostTokensOf(maxTokens) : 0,
    costUsd: isLimited(all.costUsd) ? maxUsd + (price ? costUsd(LAST_CALL, price) : 0) : 0,
  };
}

/**
 * Reports at each call of an agent what all attempts have spent so far: attempts take minutes, and the journal counts them
 * when they end. Limits do not use this count.
 */
export function watchSpending(report: (spent: AgentsSpent) => void) {
  const nothing = { calls: 0, costUsd: 0 };
  let [ended, attempts] = [nothing, 0];
  const atWork = new Map<object, typeof nothing>();
  const reportAll = () =>
    report({ ...[...atWork.values()].reduce(add, ended), ended: { attempts, costUsd: ended.costUsd } });
  return (agent: AgentRunner, price: Price | undefined): AgentRunner => ({
    ...agent,
    async run(request) {
      const onSpend = (now: AgentSpending) => {
        atWork.set(request, { calls: now.calls, costUsd: dollarsOf(now, price) ?? 0 });
        reportAll();
        request.onSpend?.(now);
      };
      try {
        const run = await agent.run({ ...request, onSpend });
        attempts++;
        return run;
      } finally {
        ended = add(ended, atWork.get(request) ?? nothing);
        atWork.delete(request);
        reportAll();
      }
    },
  });
}

type Spent = Pick<AgentsSpent, 'calls' | 'costUsd'>;

const add = (a: Spent, b: Spent): Spent => ({
  calls: a.calls + b.calls,
  costUsd: a.costUsd + b.costUsd,
});
