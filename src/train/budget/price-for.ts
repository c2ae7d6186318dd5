import type { ChatModel } from '../../core/contracts/index.ts';
import { type Price, priceOf } from '../../models/index.ts';

/** What a model costs, if that is known: under the name that its provider lists it by. */
export function priceFor(
  { modelName, id, isFree }: Pick<ChatModel, 'id' | 'modelName' | 'isFree'>,
  prices: Readonly<Record<string, Price>>,
): Price | undefined {
  return priceOf(modelName ?? id, prices) ?? (isFree && { input: 0, cachedInput: 0, output: 0 });
}
