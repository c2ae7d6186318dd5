import { type ChatModel, type ChatReply, type ChatRequest, ModelCallError } from '../../core/contracts/index.ts';
import type { RateLimiter, Slot } from '../rate-limit/rate-limiter.ts';

/** What a provider says is left: so many calls until the count starts again. */
export type RemainingCalls = { readonly calls: number; readonly resetMs: number };

export type RateLimitOptions = {
  /** The run's stop signal: ends a wait at once. A call in flight continues, since it is paid for. */
  readonly signal?: AbortSignal | undefined;
  /** How often a refused call joins the line again before the refusal is thrown. */
  readonly maxRequeues?: number;
  /** Reads the provider's rate-limit headers, where replies or errors carry any. */
  readonly remainingCalls?: (outcome: ChatReply | ModelCallError) => RemainingCalls | undefined;
  /** Is notified of each refused call that joins the line again. */
  readonly onRequeue?: (requeue: { readonly request: ChatRequest; readonly error: ModelCallError }) => void;
  /** Is notified of how long a call stood in line, if it did. */
  readonly onWait?: (wait: { readonly request: ChatRequest; readonly waitMs: number }) => void;
  readonly now?: () => number;
};

/**
 * The same model, called when `limiter` has a slot. A call that the provider refuses because there were too many (429)
 * does not sleep by itself: it goes to the head of the line and is sent when a slot is free, so that no slot idles.
 */
export function withRateLimit(model: ChatModel, limiter: RateLimiter, options: RateLimitOptions = {}): ChatModel {
  const { maxRequeues = 4, signal, remainingCalls, onRequeue, onWait, now = Date.now } = options;

  async function waitForSlot(request: ChatRequest, isAgain: boolean): Promise<Slot> {
    const start = now();
    const slot = await limiter.acquire({ signals: [request.signal, signal], isAgain });
    const waitMs = now() - start;
    if (waitMs > 0) onWait?.({ request, waitMs });
    return slot;
  }

  const heed = (outcome: ChatReply | ModelCallError) => {
    const remaining = remainingCalls?.(outcome);
    if (remaining !== undefined && remaining.calls <= 0) limiter.pause(remaining.resetMs);
  };

  async function callWithin(slot: Slot, request: ChatRequest): Promise<ChatReply> {
    try {
      const reply = await model.complete(request);
      heed(reply);
      slot.succeed();
      return reply;
    } catch (error) {
      if (error instanceof ModelCallError) heed(error);
      if (isRefusal(error)) slot.refuse(error.retryAfterMs);
      throw error;
    } finally {
      slot.release(); // nothing is left to give back after an answer or a refusal
    }
  }

  return {
    id: model.id,
    async complete(request) {
      for (let requeues = 0; ; requeues++) {
        const slot = await waitForSlot(request, requeues > 0);
        try {
          return await callWithin(slot, request);
        } catch (error) {
          if (!isRefusal(error) || requeues >= maxRequeues) throw error;
          onRequeue?.({ request, error });
        }
      }
    },
  };
}

/** A refusal that will not pass, such as an account without credit, says nothing about the limit. */
function isRefusal(error: unknown): error is ModelCallError {
  return error instanceof ModelCallError && error.status === 429 && error.isRetryable;
}
