import type { ChatModel, ChatReply, ChatRequest, Usage } from '../core/contracts/index.ts';
import { untilAborted } from './on-abort.ts';

/** A text, or a reply in which everything but the text is optional. */
export type ScriptedReply = string | (Pick<ChatReply, 'text'> & Partial<ChatReply>);

export type ScriptedModel = ChatModel & {
  /** Every request so far, in the order in which they came. */
  readonly requests: ChatRequest[];
};

/**
 * A model that is a function, for tests and offline examples. Keeps every request. If the function gives no usage, four
 * characters count as a token. If it throws, `complete` throws the same.
 */
export function scripted(
  id: string,
  reply: (request: ChatRequest) => ScriptedReply | Promise<ScriptedReply>,
): ScriptedModel {
  const requests: ChatRequest[] = [];
  return {
    id,
    isFree: true,
    readsImages: true,
    requests,
    async complete(request) {
      request.signal?.throwIfAborted();
      requests.push(request);
      const answer = await untilAborted(Promise.resolve(reply(request)), request.signal);
      const given = typeof answer === 'string' ? { text: answer } : answer;
      return { finishReason: 'stop', usage: estimateUsage(request, given.text), ...given };
    },
  };
}

function estimateUsage(request: ChatRequest, text: string): Usage {
  const inputLength = request.messages.reduce((length, message) => length + message.content.length, 0);
  return { input: Math.ceil(inputLength / 4), cached: 0, output: Math.ceil(text.length / 4), reasoning: 0 };
}
