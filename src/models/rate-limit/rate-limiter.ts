import { setTimeout as sleep } from 'node:timers/promises';
import { ModelCallError, type RateLimiter, type Slot, type SlotRequest } from '../../core/contracts/index.ts';
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
  /** How long every call may be refused before callers give up. A pause that would last longer is not made. */
  readonly patienceMs?: number;
  readonly now?: () => number;
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly onChange?: (change: RateLimitChange) => void;
};

/**
 * Lets as many calls through as a provider takes, and finds out how many those are. All callers under one key should
 * share it. Calls wait in line; none is lost.
 *
 * An episode of refusals lasts from the first refusal until a call ends in another way. It cuts the limit once, and no
 * call starts during it. If all calls in flight are refused too, the calls per minute have run out: the whole key pauses,
 * longer each time, and then one call at a time is tried, until `patienceMs` are over.
 */
export const createRateLimiter = (options: RateLimiterOptions = {}): RateLimiter => new LearningLimiter(options);

/** The error for a call that was refused, once its key has refused every call for too long: that is an outage. */
export function steadyRefusal(limiter: RateLimiter, last: ModelCallError): ModelCallError | undefined {
  const ms = limiter.refusedForMs();
  if (ms === undefined) return undefined;
  const { status, retryAfterMs, message } = last;
  const asked = retryAfterMs === undefined ? '' : `, and asks to wait for ${Math.ceil(retryAfterMs / 1000)} s more`;
  return new ModelCallError(`${message} (every call was refused for ${Math.round(ms / 1000)} s${asked})`, {
    ...{ status, retryAfterMs, isRetryable: false, isFatal: true, cause: last },
    hint: 'Start again when the provider takes calls: it resumes. More maxRetries wait longer, 30 s for each; fewer workers ask less.',
  });
}

/** How long a run waits while every call is refused. */
export const patienceFor = (maxRetries: number): number => maxRetries * 30_000;

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
  #refusedSince: number | undefined;
  #isHopeless = false;

  constructor(options: RateLimiterOptions) {
    this.#options = options;
    this.#limit = createAdaptiveLimit(options);
    this.#pause = createPause(() => this.#startNext(), options);
  }

  async acquire({ signals = [], isAgain = false }: SlotRequest = {}): Promise<Slot> {
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

  refusedForMs(): number | undefined {
    return this.#isHopeless ? this.#now() - this.#refusedSince! : undefined;
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
    this.#refusedSince = undefined;
    this.#isHopeless = false;
    if (this.#line.size > 0 || this.#inFlight >= calls) this.#limit.raise();
    if (this.#limit.calls > calls)
      this.#options.onChange?.({ type: 'limit', reason: 'raised', calls: this.#limit.calls });
  }

  #refuse(begunAfter: number, retryAfterMs: number | undefined): void {
    const { firstPauseMs = 250, patienceMs = 120_000, onChange } = this.#options;
    this.#refusedSince ??= this.#now();
    if (!this.#isRefusing && begunAfter === this.#cuts) {
      this.#cuts++;
      this.#isRefusing = true;
      this.#limit.cut();
      onChange?.({ type: 'limit', reason: 'cut', calls: this.#limit.calls });
    }
    const isLast = this.#isRefusing && this.#inFlight === 1;
    const ownMs = isLast ? firstPauseMs * 2 ** this.#pausesInARow++ : 0;
    // Nothing is in flight that could still be answered, and after the pause it would be too late.
    this.#isHopeless ||= isLast && this.#now() + (retryAfterMs ?? ownMs) > this.#refusedSince + patienceMs;
    if (this.#isHopeless) return;
    if (retryAfterMs !== undefined) this.#startPause(retryAfterMs, 'asked');
    else if (isLast) this.#startPause(ownMs, 'refused');
  }

  #now(): number {
    return (this.#options.now ?? monotonicMs)();
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
  const { maxPauseMs = 120_000, now = monotonicMs, delay = wait } = options;
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

const monotonicMs = () => performance.now();

/** Timers may ring early by a fraction of a millisecond. */
const wait = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(Math.ceil(ms) + 1, undefined, { signal });
