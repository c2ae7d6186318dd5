import type { ChatMessage, ChatModel, ChatReply, ChatRequest, Usage } from '../../core/contracts/index.ts';
import { countMessages } from '../tokens/count-tokens.ts';

type CountTokens = (messages: readonly ChatMessage[]) => number | Promise<number>;

/** No model has read or written as much in one call. */
const MOST_TOKENS = 10_000_000;

/**
 * The same model, with tokens of our own count in place of those that its provider left out, or that cannot be: none for a
 * text, less than none, more than any model takes. Budgets and reports would otherwise take its replies for free.
 */
export function withCountedUsage(model: ChatModel, countTokens: CountTokens = countMessages): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      return isCredible(reply.usage) ? reply : { ...reply, usage: await countUsage(request, reply, countTokens) };
    },
  };
}

export const isCount = (tokens: unknown): tokens is number =>
  Number.isInteger(tokens) && (tokens as number) >= 0 && (tokens as number) <= MOST_TOKENS;

function isCredible(usage: Usage | undefined): boolean {
  const { input, cached, output, reasoning } = usage ?? ({} as Partial<Usage>);
  if (!isCount(input) || !isCount(cached) || !isCount(output) || !isCount(reasoning)) return false;
  return input > 0 && output > 0 && cached <= input && reasoning <= output;
}

async function countUsage(
  { messages }: ChatRequest,
  { text, usage }: ChatReply,
  countTokens: CountTokens,
): Promise<Usage> {
  const said: Partial<Usage> = usage ?? {};
  const input = isCount(said.input) && said.input > 0 ? said.input : await countTokens(messages);
  const output =
    isCount(said.output) && said.output > 0 ? said.output : await countTokens([{ role: 'assistant', content: text }]);
  const partOf = (whole: number, part: unknown) => (isCount(part) ? Math.min(part, whole) : 0);
  return { input, cached: partOf(input, said.cached), output, reasoning: partOf(output, said.reasoning) };
}
