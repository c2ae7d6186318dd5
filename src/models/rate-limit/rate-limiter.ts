import { setTimeout as sleep } from 'node:timers/promises';
import type { RateLimitChange } from '../../core/run/index.ts';
import { memoize } from '../../core/text/index.ts';
import { WaitingLine } from '../on-abort.ts';

export type RateLimiterOptions = {
  /** Calls in flight to begin with. */
  readonly initial?: number;
  readonly max?: number;
  /** The factor for the limit after an episode of refusals. */
  readonly cut?: number;
  /** The first pause when only refusals come back. It doubles until a call is answered. */
  readonly firstPauseMs?: number;
  /** The longest pause, also when the provider asks for more. */
  readonly maxPauseMs?: number;
  readonly now?: () => number;
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly onChange?: (change: RateLimitChange) => void;
};

/** A place among the calls in flight. The first of its methods that is called gives it back. */
export interface Slot {
  /** The call was answered. */
  succeed(): void;
  /** The provider refused because there were too many calls. `retryAfterMs` is the wait that it asked for. */
  refuse(retryAfterMs?: number): void;
  /** The call ended in a way that says nothing about the limit. */
  release(): void;
}

type AcquireOptions = {
  /** The first signal to abort ends the wait with its reason. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** After a refusal: such callers are served before those that ask for the first time. */
  readonly isAgain?: boolean;
};

export interface RateLimiter {
  /** Slots are given in the order of asking. */
  acquire(options?: AcquireOptions): Promise<Slot>;
  /** No call starts for this time. Makes a pause longer, never shorter. */
  pause(ms: number): void;
  /** How many calls may be in flight, how many are, and how many wait. */
  state(): { readonly calls: number; readonly inFlight: number; readonly waiting: number };
}

/**
 * Lets as many calls through as a provider takes, and finds out how many those are. All callers under one key should
 * share it. Calls wait in line; none is lost.
 *
 * An episode of refusals lasts from the first refusal until a call ends in another way. It cuts the limit once, and no
 * call starts during it. If all calls in flight are refused too, the calls per minute have run out: the whole key pauses,
 * longer each time, and then one call at a time is tried.
 */
export const createRateLimiter = (options: RateLimiterOptions = {}): RateLimiter => new LearningLimiter(options);

export interface LimiterPool {
  /** The one limiter of a key: a provider and an account, never the secret itself. */
  sharedLimiter(key: string): RateLimiter;
}

/** The limiters of a process, so that all calls under one key wait in one line. */
export function createLimiterPool(optionsOf: (key: string) => RateLimiterOptions = () => ({})): LimiterPool {
  return { sharedLimiter: memoize((key) => createRateLimiter(optionsOf(key))) };
}

class LearningLimiter implements RateLimiter {
  readonly #options: RateLimiterOptions;
  readonly #limit: ReturnType<typeof createAdaptiveLimit>;
  readonly #pause: ReturnType<typeof createPause>;
  readonly #line = new WaitingLine<Slot>();
  #inFlight = 0;
  #cuts = 0;
  #isRefusing = false;
  #pausesInARow = 0;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#limit = createAdaptiveLimit(options);
    this.#pause = createPause(() => this.#startNext(), options);
  }

  async acquire({ signals = [], isAgain = false }: AcquireOptions = {}): Promise<Slot> {
    for (const signal of signals) signal?.throwIfAborted();
    if (this.#line.size === 0 && this.#isFree()) return this.#takeSlot(); // the usual case, without the cost of joining a line
    const slot = this.#line.join(signals, isAgain);
    this.#startNext();
    try {
      return await slot;
    } finally {
      if (this.#line.size === 0) this.#pause.forget();
    }
  }

  pause(ms: number): void {
    this.#startPause(ms, 'asked');
  }

  state() {
    return { calls: this.#limit.calls, inFlight: this.#inFlight, waiting: this.#line.size };
  }

  #isFree(): boolean {
    return this.#inFlight < (this.#isRefusing ? 1 : this.#limit.calls) && !this.#pause.isOn();
  }

  #startNext(): void {
    while (this.#line.size > 0 && this.#isFree()) this.#line.serve(this.#takeSlot());
  }

  #takeSlot(): Slot {
    this.#inFlight++;
    const begunAfter = this.#cuts;
    let isHeld = true;
    const giveBack = (report: () => void) => {
      if (!isHeld) return;
      isHeld = false;
      report();
      this.#inFlight--;
      this.#startNext();
    };
    const release = () => {
      this.#isRefusing = false;
    };
    return {
      succeed: () => giveBack(() => this.#succeed()),
      refuse: (retryAfterMs) => giveBack(() => this.#refuse(begunAfter, retryAfterMs)),
      release: () => giveBack(release),
    };
  }

  #succeed(): void {
    const { calls } = this.#limit;
    this.#isRefusing = false;
    this.#pausesInARow = 0;
    if (this.#line.size > 0 || this.#inFlight >= calls) this.#limit.raise();
    if (this.#limit.calls > calls)
      this.#options.onChange?.({ type: 'limit', reason: 'raised', calls: this.#limit.calls });
  }

  #refuse(begunAfter: number, retryAfterMs: number | undefined): void {
    const { firstPauseMs = 250, onChange } = this.#options;
    if (!this.#isRefusing && begunAfter === this.#cuts) {
      this.#cuts++;
      this.#isRefusing = true;
      this.#limit.cut();
      onChange?.({ type: 'limit', reason: 'cut', calls: this.#limit.calls });
    }
    if (retryAfterMs !== undefined) this.#startPause(retryAfterMs, 'asked');
    else if (this.#isRefusing && this.#inFlight === 1)
      this.#startPause(firstPauseMs * 2 ** this.#pausesInARow++, 'refused');
  }

  #startPause(ms: number, reason: 'asked' | 'refused'): void {
    const pauseMs = this.#pause.start(ms);
    if (pauseMs > 0) this.#options.onChange?.({ type: 'pause', reason, pauseMs });
  }
}

/**
 * How many calls a provider takes at once: additive increase, multiplicative decrease. The limit doubles with each round
 * of calls until the first cut. After it the limit grows by half a call per round, so that a provider refuses about one
 * call in eighty.
 */
function createAdaptiveLimit({ initial = 8, max = 256, cut = 0.9 }: RateLimiterOptions) {
  let limit = Math.min(initial, max);
  let isFirstClimb = true;
  return {
    /** Never fewer than one. */
    get calls() {
      return Math.max(1, Math.floor(limit));
    },
    /** For a call that was answered while the limit was reached. */
    raise() {
      limit = Math.min(max, limit + (isFirstClimb ? 1 : 0.5 / limit));
    },
    /** For an episode of refusals. */
    cut() {
      limit = Math.max(1, limit * cut);
      isFirstClimb = false;
    },
  };
}

/** A time during which no call starts. `onEnd` is called at its end if `isOn` was asked meanwhile. */
function createPause(onEnd: () => void, options: RateLimiterOptions) {
  const { maxPauseMs = 120_000, now = () => performance.now(), delay = wait } = options;
  let until = Number.NEGATIVE_INFINITY;
  let alarm: AbortController | undefined;
  const setAlarm = (ms: number) => {
    if (alarm !== undefined) return;
    const controller = new AbortController();
    alarm = controller;
    const ring = () => {
      if (controller.signal.aborted) return;
      alarm = undefined;
      onEnd();
    };
    delay(ms, controller.signal).then(ring, ring);
  };
  return {
    isOn() {
      const leftMs = until - now();
      if (leftMs > 0) setAlarm(leftMs);
      return leftMs > 0;
    },
    /** Returns the new pause, or 0 when a longer one is under way. */
    start(ms: number) {
      const pauseMs = Math.min(ms, maxPauseMs);
      if (now() + pauseMs <= until) return 0;
      until = now() + pauseMs;
      return pauseMs;
    },
    /** For when no call waits any more: no timer keeps the process alive, and `onEnd` is not called. */
    forget() {
      alarm?.abort();
      alarm = undefined;
    },
  };
}

/** Timers may ring early by a fraction of a millisecond. */
const wait = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(Math.ceil(ms) + 1, undefined, { signal });
