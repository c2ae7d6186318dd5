import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatModel, type ChatRequest, ModelCallError } from '../../core/contracts/index.ts';
import type { Budget } from '../budget/budget.ts';
import { linkedSignal, untilAborted } from '../on-abort.ts';

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
  /** The longest wait. A wait that the provider asks for may be four times as long. */
  readonly maxDelayMs?: number;
  /** From 0 to 1. */
  readonly random?: () => number;
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** The run's stop signal: ends a wait at once. A call in flight continues, since it is paid for. */
  readonly signal?: AbortSignal | undefined;
  /** Notified before each wait. */
  readonly onRetry?: (retry: Retry) => void;
};

/**
 * The same model, tried again after failures that may pass. Waits grow exponentially with full jitter, unless the
 * provider says how long. After the last try the last error is thrown; an abort is thrown as its signal's reason.
 */
export function withRetry(model: ChatModel, options: RetryOptions = {}): ChatModel {
  const { maxRetries = 4, signal, onRetry } = options;
  return {
    id: model.id,
    async complete(request) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await model.complete(request);
        } catch (error) {
          if (!(error instanceof ModelCallError && error.isRetryable) || attempt > maxRetries) throw error;
          signal?.throwIfAborted();
          request.signal?.throwIfAborted();
          const delayMs = delayAfter(error, attempt, options);
          onRetry?.({ request, error, attempt, delayMs });
          await pause(delayMs, [signal, request.signal], options.delay);
        }
      }
    },
  };
}

function delayAfter({ retryAfterMs }: ModelCallError, attempt: number, options: RetryOptions): number {
  const { firstDelayMs = 500, maxDelayMs = 30_000, random = Math.random } = options;
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, maxDelayMs * 4);
  return Math.round(random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempt - 1)));
}

async function pause(ms: number, signals: readonly (AbortSignal | undefined)[], delay: RetryOptions['delay'] = wait) {
  const { signal, release } = linkedSignal(...signals);
  try {
    await untilAborted(delay(ms, signal), signal);
  } finally {
    release();
  }
}

const wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });

/** The same model. After `failures` failed calls in a row the error is fatal: that is an outage. A success resets the count. */
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

/** Node's timers take anything longer for one millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The same model, with `timeoutMs` for each call. A call that takes longer is aborted and fails with a retryable
 * `ModelCallError`, also when the model does not listen to its signal.
 */
export function withTimeout(model: ChatModel, timeoutMs: number): ChatModel {
  const whyOver = () =>
    new ModelCallError(`${model.id} gave no answer within ${timeoutMs / 1000} s`, {
      isRetryable: true,
      hint: 'A slow model needs a larger callTimeoutMs, or fewer workers.',
    });
  const complete: ChatModel['complete'] = (request) =>
    within(timeoutMs, whyOver, request.signal, (signal) => model.complete({ ...request, signal }));
  return { id: model.id, complete };
}

/**
 * The same model, until the time of `budget` is over. A call that is then in flight, or waits to be sent again, is aborted
 * after a grace and fails with `BUDGET_EXHAUSTED`, so that a server that never answers does not block a run.
 */
export function withTimeLimit(model: ChatModel, budget: Pick<Budget, 'timeLimit'>): ChatModel {
  return {
    id: model.id,
    complete: (request) =>
      untilTimeIsOver(budget, request.signal, (signal) => model.complete(signal ? { ...request, signal } : request)),
  };
}

/** `work`, under a signal that also aborts when the time of `budget` is over, after a grace. */
export function untilTimeIsOver<T, S extends AbortSignal | undefined>(
  budget: Pick<Budget, 'timeLimit'> | undefined,
  outer: S,
  work: (signal: AbortSignal | S) => Promise<T>,
): Promise<T> {
  const limit = budget?.timeLimit();
  return limit === undefined ? work(outer) : within(limit.msLeft + limit.graceMs, limit.whyOver, outer, work);
}

async function within<T>(
  timeoutMs: number,
  whyOver: () => Error,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, abort, release } = linkedSignal(outer);
  const timer = setTimeout(() => abort(whyOver()), Math.min(timeoutMs, LONGEST_TIMER_MS));
  try {
    return await untilAborted(work(signal), signal);
  } finally {
    clearTimeout(timer);
    release();
  }
}
