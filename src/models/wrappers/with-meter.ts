import type { ChatModel, ChatReply } from '../../core/contracts/index.ts';
import type { StageUsage } from '../../core/run/index.ts';
import { costUsd, type Price } from '../budget/prices.ts';
import type { Meter } from './meter.ts';

export type WithMeterOptions = { readonly price?: Price | undefined };

/**
 * The same model, with every reply, its tokens and its dollars counted under the stage that asked, or under `other`.
 * Inside a reply cache it counts what was paid; around one, what was used.
 */
export function withMeter(model: ChatModel, meter: Meter, { price }: WithMeterOptions = {}): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      meter.add(request.stage ?? 'other', billFor(reply, price));
      return reply;
    },
  };
}

/** What one reply adds to what is counted. */
export function billFor({ usage }: ChatReply, price: Price | undefined): Partial<StageUsage> {
  return { ...usage, replies: 1, ...(price ? { costUsd: costUsd(usage, price) } : { unpriced: 1 }) };
}
