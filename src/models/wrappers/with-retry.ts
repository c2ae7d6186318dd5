import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatModel, type ChatReply, type ChatRequest, ModelCallError } from '../../core/contracts/index.ts';
import type { Budget } from '../budget/budget.ts';
import { linkedController, onAbort, untilAborted } from '../on-abort.ts';

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
  /** Is notified before each wait. */
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

/**
 * The same model, given up on after `failures` calls in a row that no retry could mend: that is an outage, and the error
 * of the last one is fatal. One success starts the count again.
 */
export function withCircuit(model: ChatModel, failures: number): ChatModel {
  let inARow = 0;
  return {
    id: model.id,
    async complete(request) {
      try {
        const reply = await model.complete(request);
        inARow = 0;
        return reply;
      } catch (error) {
        if (!(error instanceof ModelCallError) || error.isFatal) throw error;
        inARow += 1;
        throw inARow < failures ? error : outage(error, inARow);
      }
    },
  };
}

function outage(last: ModelCallError, count: number): ModelCallError {
  const { status, hint = 'Start again when the model answers.' } = last;
  const message = `${count} calls in a row have failed; the last one: ${last.message}`;
  return new ModelCallError(message, { status, hint, isRetryable: false, isFatal: true, cause: last });
}

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
