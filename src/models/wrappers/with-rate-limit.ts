import {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  ModelCallError,
  type RateLimiter,
  type Slot,
} from '../../core/contracts/index.ts';
import { steadyRefusal } from '../rate-limit/rate-limiter.ts';

/** What a provider says is left until its count starts again. */
export type RemainingCalls = { readonly calls: number; readonly resetMs: number };

export type RateLimitOptions = {
  /** The run's stop signal: ends a wait at once. A call in flight continues, since it is paid for. */
  readonly signal?: AbortSignal | undefined;
  /** Reads the provider's rate-limit headers. */
  readonly remainingCalls?: (outcome: ChatReply | ModelCallError) => RemainingCalls | undefined;
  /** Notified of each refused call that joins the line again. */
  readonly onRequeue?: (requeue: { readonly request: ChatRequest; readonly error: ModelCallError }) => void;
  /** Notified of how long a call waited in line. */
  readonly onWait?: (wait: { readonly request: ChatRequest; readonly waitMs: number }) => void;
  readonly now?: () => number;
};

/**
 * The same model, called when `limiter` has a slot. A call that the provider refuses because there were too many (429)
 * goes to the head of the line and is sent when a slot is free. It does not sleep, so that no slot idles. Once the limiter has
 * seen every call refused for too long, the call fails with an outage.
 */
export function withRateLimit(model: ChatModel, limiter: RateLimiter, options: RateLimitOptions = {}): ChatModel {
  const { signal, onRequeue, onWait, now = () => performance.now() } = options;

  async function waitForSlot(request: ChatRequest, isAgain: boolean): Promise<Slot> {
    const start = now();
    const slot = await limiter.acquire({ signals: [request.signal, signal], isAgain });
    const waitMs = Math.round(now() - start);
    if (waitMs > 0) onWait?.({ request, waitMs });
    return slot;
  }

  const inSlot = callInSlot(model, (outcome) => {
    const remaining = options.remainingCalls?.(outcome);
    if (remaining !== undefined && remaining.calls <= 0) limiter.pause(remaining.resetMs);
  });
  return {
    id: model.id,
    async complete(request) {
      let last: ModelCallError | undefined;
      for (;;) {
        const slot = await waitForSlot(request, last !== undefined);
        throwIfSteady(limiter, last, slot); // meanwhile another call may have been refused for too long
        try {
          return await inSlot(slot, request);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          throwIfSteady(limiter, error, slot);
          last = error;
          onRequeue?.({ request, error });
        }
      }
    },
  };
}

function callInSlot(model: ChatModel, onOutcome: (outcome: ChatReply | ModelCallError) => void) {
  return async (slot: Slot, request: ChatRequest): Promise<ChatReply> => {
    try {
      const reply = await model.complete(request);
      onOutcome(reply);
      slot.succeed();
      return reply;
    } catch (error) {
      if (error instanceof ModelCallError) onOutcome(error);
      if (isRefusal(error)) slot.refuse(error.retryAfterMs);
      throw error;
    } finally {
      slot.release(); // has no effect after an answer or a refusal
    }
  };
}

function throwIfSteady(limiter: RateLimiter, last: ModelCallError | undefined, slot: Slot): void {
  const outage = last && steadyRefusal(limiter, last);
  if (outage === undefined) return;
  slot.refuse(); // gives it back, and lets no other call start
  throw outage;
}

/** A refusal that will not pass, such as an account without credit, says nothing about the limit. */
export const isRefusal = (error: unknown): error is ModelCallError & { readonly status: 429 } =>
  error instanceof ModelCallError && error.status === 429 && error.isRetryable;
