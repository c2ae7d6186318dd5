import {
  type ChatMessage,
  type ChatModel,
  type ChatRequest,
  ModelCallError,
  noUsage,
  SkillError,
  type Usage,
} from '../../core/contracts/index.ts';
import type { Amounts, Ledger } from '../../core/run/index.ts';
import type { Budget } from '../budget/budget.ts';
import { costUsd, type Price } from '../budget/prices.ts';
import { billFor, isCount, withCountedUsage } from './with-meter.ts';

export type WithBudgetOptions = {
  /** The run's stop signal: nothing is sent after it. A call in flight continues, since it is paid for. */
  readonly signal?: AbortSignal | undefined;
  /** Needed when the budget limits dollars. */
  readonly price?: Price | undefined;
  /** Counts or estimates the tokens of the messages. */
  readonly countTokens: (messages: readonly ChatMessage[]) => number | Promise<number>;
  /** The factor by which the model's own tokenizer may count more. */
  readonly tokenMargin?: number;
  /** The longest reply to a request without a limit. Sent when the budget limits tokens or dollars. */
  readonly defaultMaxOutputTokens?: number;
  /** Where each call is noted, beside the ledger of the budget. */
  readonly ledger?: Ledger | undefined;
};

/**
 * The same model, within `budget`. Before each attempt the most that it may cost is set aside; afterwards its cost is
 * counted, by us where the provider does not say. A failed attempt counts as a call: with the tokens that its error
 * names, with none when it was refused, and otherwise with all that was set aside, since it may have been billed. A call
 * that the budget cannot pay for is not sent and fails with `BUDGET_EXHAUSTED`.
 */
export function withBudget(model: ChatModel, budget: Budget, options: WithBudgetOptions): ChatModel {
  requirePrice(model, budget, options);
  const { ledger } = options;
  const counted = withCountedUsage(model, options.countTokens);
  return {
    id: model.id,
    async complete(request) {
      const { stage } = request;
      const limited = isUnlimited(budget) ? request : { ...request, maxOutputTokens: longestReply(request, options) };
      const bound = isUnlimited(budget) ? ONE_CALL : await boundOf(limited, options);
      const reservation = await budget.reserve(bound, [request.signal, options.signal], { stage, ledger });
      try {
        const reply = await counted.complete(limited);
        reservation.settle(attempt(reply.usage, options.price), billFor(reply, options.price));
        return reply;
      } catch (error) {
        reservation.fail(failedAttempt(error, bound, options.price));
        throw error;
      }
    },
  };
}

function requirePrice({ id }: ChatModel, { limits }: Budget, { price }: WithBudgetOptions): void {
  if (price !== undefined || limits.costUsd === Number.POSITIVE_INFINITY) return;
  throw new SkillError('CONFIG_INVALID', `a limit in dollars needs the price of ${id}, which is not known`, {
    hint: 'Give its price per million tokens in the configuration, or limit calls or tokens instead.',
  });
}

/** Where neither tokens nor dollars are limited, calls alone are set aside: nobody counts tokens for nothing. */
const ONE_CALL: Amounts = { calls: 1, totalTokens: 0, costUsd: 0 };

/** Otherwise every reply has a limit: one without could cost more than was set aside for it. */
const isUnlimited = ({ limits }: Budget) =>
  limits.totalTokens === Number.POSITIVE_INFINITY && limits.costUsd === Number.POSITIVE_INFINITY;

const longestReply = ({ maxOutputTokens }: ChatRequest, { defaultMaxOutputTokens = 16_384 }: WithBudgetOptions) =>
  maxOutputTokens ?? defaultMaxOutputTokens;

async function boundOf(request: ChatRequest, options: WithBudgetOptions): Promise<Amounts> {
  const { price, countTokens, tokenMargin = 1.5 } = options;
  const input = Math.ceil((await countTokens(request.messages)) * tokenMargin);
  return attempt({ ...noUsage, input, output: longestReply(request, options) }, price);
}

function attempt(usage: Usage, price: Price | undefined): Amounts {
  return { calls: 1, totalTokens: usage.input + usage.output, costUsd: price ? costUsd(usage, price) : 0 };
}

function failedAttempt(error: unknown, bound: Amounts, price: Price | undefined): Amounts {
  const { usage, status = 0 } = error instanceof ModelCallError ? error : {};
  if (usage !== undefined && isCount(usage.input) && isCount(usage.output)) return attempt(usage, price);
  return status >= 300 ? attempt(noUsage, price) : bound;
}
