import type { ChatModel } from '../../core/model.ts';
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
      const cost = price ? { costUsd: costUsd(reply.usage, price) } : { unpriced: 1 };
      meter.add(request.stage ?? 'other', { ...reply.usage, replies: 1, ...cost });
      return reply;
    },
  };
}
