import type { ChatModel, ChatReply, ChatRequest, Usage } from '../core/contracts/index.ts';
import { untilAborted } from './on-abort.ts';

/** A text, or a reply of which all but the text may be left out. */
export type ScriptedReply = string | (Pick<ChatReply, 'text'> & Partial<ChatReply>);

export type ScriptedModel = ChatModel & {
  /** Every request so far, in the order in which they came. */
  readonly requests: ChatRequest[];
};

/**
 * A model that is a function: what tests and offline examples run against. Keeps every request. Tokens that the
 * function does not name are taken to be four characters each. What the function throws, `complete` throws.
 */
export function scripted(
  id: string,
  reply: (request: ChatRequest) => ScriptedReply | Promise<ScriptedReply>,
): ScriptedModel {
  const requests: ChatRequest[] = [];
  return {
    id,
    isFree: true,
    requests,
    async complete(request) {
      request.signal?.throwIfAborted();
      requests.push(request);
      const answer = await untilAborted(Promise.resolve(reply(request)), request.signal);
      return toReply(request, typeof answer === 'string' ? { text: answer } : answer);
    },
  };
}

function toReply(request: ChatRequest, answer: Exclude<ScriptedReply, string>): ChatReply {
  return { finishReason: 'stop', usage: estimateUsage(request, answer.text), ...answer };
}

function estimateUsage(request: ChatRequest, text: string): Usage {
  const inputLength = request.messages.reduce((length, message) => length + message.content.length, 0);
  return { input: Math.ceil(inputLength / 4), cached: 0, output: Math.ceil(text.length / 4), reasoning: 0 };
}
