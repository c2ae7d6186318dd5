import { type ChatModel, type ChatReply, type ChatRequest, ModelCallError } from '../../core/contracts/index.ts';
import type { Budget } from '../budget/budget.ts';
import { onAbort } from '../on-abort.ts';

/** What Node's timers can count to. They take anything longer for one millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The same model, with `timeoutMs` for each call. A call that takes longer is aborted and fails with a retryable
 * `ModelCallError`, also when the model below does not listen to its signal.
 */
export function withTimeout(model: ChatModel, timeoutMs: number): ChatModel {
  return {
    id: model.id,
    complete: (request) => completeWithin(timeoutMs, () => timeoutError(model.id, timeoutMs), model, request),
  };
}

/**
 * The same model, until the time of `budget` is over: a call that is then in flight, or waits to be sent again, is aborted
 * after a grace and fails with `BUDGET_EXHAUSTED`. Without this a server that never answers would keep everybody waiting.
 */
export function withTimeLimit(model: ChatModel, budget: Pick<Budget, 'timeLimit'>): ChatModel {
  return {
    id: model.id,
    complete(request) {
      const limit = budget.timeLimit();
      if (limit === undefined) return model.complete(request);
      return completeWithin(limit.msLeft + limit.graceMs, limit.whyOver, model, request);
    },
  };
}

function completeWithin(
  timeoutMs: number,
  whyOver: () => Error,
  model: ChatModel,
  request: ChatRequest,
): Promise<ChatReply> {
  const controller = new AbortController();
  return new Promise((resolve, reject) => {
    const giveUp = (reason: unknown) => {
      controller.abort(reason);
      reject(reason);
    };
    const timer = setTimeout(() => giveUp(whyOver()), Math.min(timeoutMs, LONGEST_TIMER_MS));
    const stopListening = onAbort(request.signal, giveUp);
    const release = () => {
      clearTimeout(timer);
      stopListening();
    };
    model.complete({ ...request, signal: controller.signal }).then(
      (reply) => {
        release();
        resolve(reply);
      },
      (error) => {
        release();
        reject(error);
      },
    );
  });
}

function timeoutError(id: string, timeoutMs: number): ModelCallError {
  return new ModelCallError(`${id} gave no answer within ${timeoutMs / 1000} s`, {
    isRetryable: true,
    hint: 'A slow model needs a larger callTimeoutMs, or fewer workers.',
  });
}
