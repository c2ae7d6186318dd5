import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatModel, type ChatRequest, ModelCallError } from '../../core/contracts/index.ts';
import { linkedController, untilAborted } from '../on-abort.ts';

/** A call that is about to be tried again. `attempt` counts the further tries from 1. */
export type Retry = {
  readonly request: ChatRequest;
  readonly error: ModelCallError;
  readonly attempt: number;
  readonly delayMs: number;
};

export type RetryOptions = {
  readonly maxRetries?: number;
  readonly firstDelayMs?: number;
  /** Longest wait of ours. A provider that names its own is waited for up to four times as long. */
  readonly maxDelayMs?: number;
  /** From 0 to 1. */
  readonly random?: () => number;
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** The run's stop signal: ends a wait at once. A call in flight continues, since it is paid for. */
  readonly signal?: AbortSignal | undefined;
  /** Told before each wait. */
  readonly onRetry?: (retry: Retry) => void;
};

/**
 * The same model, tried again while it fails for the moment. Waits grow exponentially with full jitter, unless the
 * provider says how long. After the last try the last error is thrown; an abort is thrown as its signal's reason.
 */
export function withRetry(model: ChatModel, options: RetryOptions = {}): ChatModel {
  const { maxRetries = 4, delay = wait, signal, onRetry } = options;
  const schedule = delaySchedule(options);
  return {
    id: model.id,
    async complete(request) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await model.complete(request);
        } catch (error) {
          if (!isWorthRetrying(error) || attempt > maxRetries) throw error;
          signal?.throwIfAborted();
          request.signal?.throwIfAborted();
          const delayMs = schedule(error, attempt);
          onRetry?.({ request, error, attempt, delayMs });
          await pause(delayMs, delay, [signal, request.signal]);
        }
      }
    },
  };
}

function isWorthRetrying(error: unknown): error is ModelCallError {
  return error instanceof ModelCallError && error.isRetryable;
}

function delaySchedule({ firstDelayMs = 500, maxDelayMs = 30_000, random = Math.random }: RetryOptions) {
  return ({ retryAfterMs }: ModelCallError, attempt: number) => {
    if (retryAfterMs !== undefined) return Math.min(retryAfterMs, maxDelayMs * 4);
    return Math.round(random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1)));
  };
}

async function pause(ms: number, delay: NonNullable<RetryOptions['delay']>, signals: (AbortSignal | undefined)[]) {
  const { controller, release } = linkedController(...signals);
  try {
    await untilAborted(delay(ms, controller.signal), controller.signal);
  } finally {
    release();
  }
}

function wait(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(ms, undefined, { signal });
}
