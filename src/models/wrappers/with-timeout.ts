import { ModelCallError } from '../../core/errors.ts';
import type { ChatModel } from '../../core/model.ts';
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
    complete(request) {
      const controller = new AbortController();
      return new Promise((resolve, reject) => {
        const giveUp = (reason: unknown) => {
          controller.abort(reason);
          reject(reason);
        };
        const expire = () => giveUp(timeoutError(model.id, timeoutMs));
        const timer = setTimeout(expire, Math.min(timeoutMs, LONGEST_TIMER_MS));
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
    },
  };
}

function timeoutError(id: string, timeoutMs: number): ModelCallError {
  return new ModelCallError(`${id} gave no answer within ${timeoutMs / 1000} s`, {
    isRetryable: true,
    hint: 'A slow model needs a larger callTimeoutMs, or fewer workers.',
  });
}
