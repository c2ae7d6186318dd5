import type { ChatModel, ChatRequest } from '../core/model.ts';
import type { Meter } from './meter.ts';

/**
 * The same model, with every reply and its tokens counted under the stage that asked. The outermost wrapper: tokens
 * of replies from a cache below count too, so that a resumed run shows the same figures as an undisturbed one.
 */
export function withMeter(model: ChatModel, meter: Meter): ChatModel {
  return {
    id: model.id,
    async complete(request) {
      const reply = await model.complete(request);
      meter.add(stageOf(request), { ...reply.usage, replies: 1 });
      return reply;
    },
  };
}

/** The name under which a request is counted. */
export function stageOf({ stage = 'other' }: ChatRequest): string {
  return stage;
}
