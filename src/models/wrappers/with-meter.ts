import type { ChatModel } from '../../core/model.ts';
import type { Meter } from './meter.ts';

/**
 * The same model, with every reply and its tokens counted under the stage that asked, or under `other`. Inside a
 * reply cache it counts what was paid; around one, what was used.
 */
export function withMeter(model: ChatModel, meter: Meter): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      meter.add(request.stage ?? 'other', { ...reply.usage, replies: 1 });
      return reply;
    },
  };
}
