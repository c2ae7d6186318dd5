import { SkillError } from '../../core/errors.ts';
import { type ChatMessage, type ChatModel, type ChatRequest, noUsage, type Usage } from '../../core/model.ts';
import type { Amounts } from '../budget/amounts.ts';
import type { Budget } from '../budget/budget.ts';
import { costUsd, type Price } from '../budget/prices.ts';

export type WithBudgetOptions = {
  /** The run's stop signal: nothing is sent after it. A call in flight goes on, since it is paid for. */
  readonly signal?: AbortSignal | undefined;
  /** Needed when the budget limits dollars. */
  readonly price?: Price | undefined;
  /** How many tokens the messages are, counted or estimated. */
  readonly countTokens: (messages: readonly ChatMessage[]) => number | Promise<number>;
  /** How many times as many tokens the model's own tokenizer may make of them. */
  readonly tokenMargin?: number;
  /** What is set aside for a reply whose request names no limit. It is not sent. */
  readonly defaultMaxOutputTokens?: number;
};

/**
 * The same model, within `budget`. Before each attempt the most that it may cost is set aside, and after it what it did
 * cost is counted. A failed attempt counts as a call, with the tokens that its error names, if any. What the budget
 * cannot pay for is not sent: it fails with `BUDGET_EXHAUSTED`.
 */
export function withBudget(model: ChatModel, budget: Budget, options: WithBudgetOptions): ChatModel {
  requirePrice(model, budget, options);
  return {
    id: model.id,
    async complete(request) {
      const bound = await boundOf(request, options);
      const reservation = await budget.reserve(bound, [request.signal, options.signal]);
      try {
        const reply = await model.complete(request);
        reservation.settle(attempt(reply.usage, options.price));
        return reply;
      } catch (error) {
        reservation.settle(attempt(usageOf(error), options.price));
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

async function boundOf(request: ChatRequest, options: WithBudgetOptions): Promise<Amounts> {
  const { price, countTokens, tokenMargin = 1.5, defaultMaxOutputTokens = 16_384 } = options;
  const input = Math.ceil((await countTokens(request.messages)) * tokenMargin);
  const output = request.maxOutputTokens ?? defaultMaxOutputTokens;
  return attempt({ ...noUsage, input, output }, price);
}

function attempt(usage: Usage, price: Price | undefined): Amounts {
  return {
    calls: 1,
    totalTokens: usage.input + usage.output,
    costUsd: price === undefined ? 0 : costUsd(usage, price),
  };
}

function usageOf(error: unknown): Usage {
  return (error as { readonly usage?: Usage } | null | undefined)?.usage ?? noUsage;
}
