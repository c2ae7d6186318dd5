import { createHash } from 'node:crypto';
import type { ChatModel } from '../../core/contracts/index.ts';

/**
 * A model that answers a repeated request with another draw, as a real one does: the n-th time that messages come without a
 * sample index, n is their index. So many of the same requests get the same replies, whichever of them comes first.
 */
export function varyRepeats(model: ChatModel): ChatModel {
  const seen = new Map<string, number>();
  return {
    ...model,
    complete(request) {
      if (request.sampleIndex !== undefined) return model.complete(request);
      const key = createHash('sha256').update(JSON.stringify(request.messages)).digest('base64');
      const sampleIndex = seen.get(key) ?? 0;
      seen.set(key, sampleIndex + 1);
      return model.complete({ ...request, sampleIndex });
    },
  };
}
