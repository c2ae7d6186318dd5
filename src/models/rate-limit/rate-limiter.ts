import type { RateLimitChange } from '../../core/run/index.ts';
import { WaitingLine } from '../waiting-line.ts';
import { type AdaptiveLimitOptions, createAdaptiveLimit } from './adaptive-limit.ts';
import { createPause, type PauseOptions } from './pause.ts';

export type RateLimiterOptions = AdaptiveLimitOptions &
  PauseOptions & {
    /** First pause when nothing but refusals comes back. Doubles until a call is answered. */
    readonly firstPauseMs?: number;
    readonly onChange?: (change: RateLimitChange) => void;
  };

/** A place among the calls in flight. Given back by the first of its methods that is called. */
export interface Slot {
  /** The call was answered. */
  succeed(): void;
  /** The provider said: too many. `retryAfterMs` is what it asked for, if it did. */
  refuse(retryAfterMs?: number): void;
  /** The call ended in a way that says nothing about the limit. */
  release(): void;
}

type AcquireOptions = {
  /** The first to abort ends the wait at once, with its reason. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** After a refusal: served before callers that ask for the first time. */
  readonly isAgain?: boolean;
};

export interface RateLimiter {
  /** A slot, in the order of asking. */
  acquire(options?: AcquireOptions): Promise<Slot>;
  /** No call starts for so long. Makes a pause longer, never shorter. */
  pause(ms: number): void;
  /** How many calls may be in flight, how many are, and how many wait. */
  state(): { readonly calls: number; readonly inFlight: number; readonly waiting: number };
}

/**
 * Lets as many calls through as a provider takes, and finds out how many those are. To be shared by all that call under
 * one key. Calls wait in line; none is lost.
 *
 * An episode of refusals lasts from the first of them until a call ends in another way. It cuts the limit once, and no call
 * starts during it: those in flight will tell. If they are all refused too, fewer at once would not help, because calls
 * per minute have run out: the whole key pauses, longer each time, and one call at a time feels its way.
 */
export function createRateLimiter(options: RateLimiterOptions = {}): RateLimiter {
  const { firstPauseMs = 250, onChange } = options;
  const limit = createAdaptiveLimit(options);
  const pause = createPause(startNext, options);
  const line = new WaitingLine<Slot>();
  let inFlight = 0;
  let cuts = 0;
  let isRefusing = false;
  let pausesInARow = 0;

  const isFree = () => inFlight < (isRefusing ? 1 : limit.calls) && !pause.isOn();

  function startNext(): void {
    while (line.size > 0 && isFree()) line.serve(takeSlot());
  }

  function takeSlot(): Slot {
    inFlight++;
    const begunAfter = cuts;
    let isHeld = true;
    const giveBack = (report: () => void) => {
      if (!isHeld) return;
      isHeld = false;
      report();
      inFlight--;
      startNext();
    };
    return {
      succeed: () => giveBack(succeed),
      refuse: (retryAfterMs) => giveBack(() => refuse(begunAfter, retryAfterMs)),
      release: () => giveBack(endEpisode),
    };
  }

  function endEpisode(): void {
    isRefusing = false;
  }

  function succeed(): void {
    const { calls } = limit;
    endEpisode();
    pausesInARow = 0;
    if (line.size > 0 || inFlight >= calls) limit.raise();
    if (limit.calls > calls) onChange?.({ type: 'limit', reason: 'raised', calls: limit.calls });
  }

  function refuse(begunAfter: number, retryAfterMs: number | undefined): void {
    if (!isRefusing && begunAfter === cuts) cut();
    if (retryAfterMs !== undefined) startPause(retryAfterMs, 'asked');
    else if (isRefusing && inFlight === 1) startPause(firstPauseMs * 2 ** pausesInARow++, 'refused');
  }

  function cut(): void {
    cuts++;
    isRefusing = true;
    limit.cut();
    onChange?.({ type: 'limit', reason: 'cut', calls: limit.calls });
  }

  function startPause(ms: number, reason: 'asked' | 'refused'): void {
    const pauseMs = pause.start(ms);
    if (pauseMs > 0) onChange?.({ type: 'pause', reason, pauseMs });
  }

  return {
    async acquire({ signals = [], isAgain = false } = {}) {
      for (const signal of signals) signal?.throwIfAborted();
      if (line.size === 0 && isFree()) return takeSlot(); // the usual case, and joining a line has its price
      const slot = line.join(signals, isAgain);
      startNext();
      try {
        return await slot;
      } finally {
        if (line.size === 0) pause.forget();
      }
    },
    pause: (ms) => startPause(ms, 'asked'),
    state: () => ({ calls: limit.calls, inFlight, waiting: line.size }),
  };
}

export interface LimiterPool {
  /** The one limiter of a key: a provider and an account, never the secret itself. Made when it is first asked for. */
  sharedLimiter(key: string): RateLimiter;
}

/** The limiters of a process, so that all calls under one key wait in one line. */
export function createLimiterPool(optionsOf: (key: string) => RateLimiterOptions = () => ({})): LimiterPool {
  const limiters = new Map<string, RateLimiter>();
  return {
    sharedLimiter(key) {
      const limiter = limiters.get(key) ?? createRateLimiter(optionsOf(key));
      limiters.set(key, limiter);
      return limiter;
    },
  };
}
