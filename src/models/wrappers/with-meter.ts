import type { ChatMessage, ChatModel, ChatReply, ChatRequest, Usage } from '../../core/contracts/index.ts';
import { addUsage, noStageUsage, type StageUsage } from '../../core/run/index.ts';
import { costUsd, type Price } from '../budget/prices.ts';
import { countMessages } from '../tokens/count-tokens.ts';

/**
 * The same model, with every reply, its tokens and its dollars counted under the stage that asked, or under `other`.
 * Inside a reply cache it counts what was paid; around one, what was used.
 */
export function withMeter(
  model: ChatModel,
  meter: Meter,
  { price }: { readonly price?: Price | undefined } = {},
): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      meter.add(request.stage ?? 'other', billFor(reply, price));
      return reply;
    },
  };
}

/** What one reply adds to a meter. */
export function billFor({ usage }: ChatReply, price: Price | undefined): Partial<StageUsage> {
  return { ...usage, replies: 1, ...(price ? { costUsd: costUsd(usage, price) } : { unpriced: 1 }) };
}

/** Adds up what model calls cost, by stage. */
export interface Meter {
  add(stage: string, amounts: Partial<StageUsage>): void;
  /** What was added since the last `take`, by stage. */
  take(): Record<string, StageUsage>;
}

export function createMeter(): Meter {
  let stages = new Map<string, StageUsage>();
  return {
    add(stage, amounts) {
      stages.set(stage, addUsage(stages.get(stage) ?? noStageUsage, amounts));
    },
    take() {
      const taken = Object.fromEntries(stages);
      stages = new Map();
      return taken;
    },
  };
}

type CountTokens = (messages: readonly ChatMessage[]) => number | Promise<number>;

/** More than any model reads or writes in one call. */
const MOST_TOKENS = 10_000_000;

/**
 * The same model, with our own count in place of tokens that its provider left out, or that are impossible: none for a
 * text, negative, more than any model takes. Budgets and reports would otherwise count its replies as free.
 */
export function withCountedUsage(model: ChatModel, countTokens: CountTokens = countMessages): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      return isCredible(reply.usage ?? {}) ? reply : { ...reply, usage: await countUsage(request, reply, countTokens) };
    },
  };
}

export const isCount = (tokens: unknown): tokens is number =>
  Number.isInteger(tokens) && (tokens as number) >= 0 && (tokens as number) <= MOST_TOKENS;

function isCredible({ input, cached, output, reasoning }: Partial<Usage>): boolean {
  if (!isCount(input) || !isCount(cached) || !isCount(output) || !isCount(reasoning)) return false;
  return input > 0 && output > 0 && cached <= input && reasoning <= output;
}

async function countUsage({ messages }: ChatRequest, { text, usage }: ChatReply, count: CountTokens): Promise<Usage> {
  const given: Partial<Usage> = usage ?? {};
  const reply: ChatMessage = { role: 'assistant', content: text };
  const input = isCount(given.input) && given.input > 0 ? given.input : await count(messages);
  const output = isCount(given.output) && given.output > 0 ? given.output : await count([reply]);
  const partOf = (whole: number, part: unknown) => (isCount(part) ? Math.min(part, whole) : 0);
  return { input, cached: partOf(input, given.cached), output, reasoning: partOf(output, given.reasoning) };
}
