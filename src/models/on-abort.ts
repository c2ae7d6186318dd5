import { setMaxListeners } from 'node:events';

/** Calls `listener` with the reason when `signal` aborts, or at once if it has. The returned function stops listening. */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener(signal.reason);
    return () => {};
  }
  expectMany(signal);
  const handle = () => listener(signal.reason);
  signal.addEventListener('abort', handle, { once: true });
  return () => signal.removeEventListener('abort', handle);
}

const listenedTo = new WeakMap<AbortSignal, number>();

/**
 * Every call in flight may listen to the run's one signal. Node would take many listeners for a leak and print a warning.
 * Most signals have few listeners. Raising the maximum costs more than listening, so the eighth listener does it.
 */
function expectMany(signal: AbortSignal): void {
  const times = (listenedTo.get(signal) ?? 0) + 1;
  if (times <= 8) listenedTo.set(signal, times);
  // Not 0, which also means no maximum: undici reads the number, and Node takes a signal with 0 for something else.
  if (times === 8) setMaxListeners(Number.POSITIVE_INFINITY, signal);
}

/** `promise`, or a rejection with the signal's reason as soon as it aborts. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, reject);
    // Not `finally`, which makes two more promises for each call.
    promise.then(
      (value) => {
        stopListening();
        resolve(value);
      },
      (error) => {
        stopListening();
        reject(error);
      },
    );
  });
}

/**
 * A signal that aborts when any of `signals` does, with the same reason, until it is released. In place of
 * `AbortSignal.any`, whose composites stay reachable from a run's long-lived signal call after call.
 */
export function linkedSignal(...signals: readonly (AbortSignal | undefined)[]) {
  const controller = new AbortController();
  const links = signals.map((signal) => onAbort(signal, (reason) => controller.abort(reason)));
  return {
    signal: controller.signal as AbortSignal, // by its global name, which a declaration can have
    abort: (reason: unknown) => controller.abort(reason),
    release() {
      for (const unlink of links) unlink();
    },
  };
}

/** First come, first served, but callers that come again are served before. A caller that aborts leaves the line. */
export class WaitingLine<T> {
  readonly #again = new Set<(value: T) => void>();
  readonly #first = new Set<(value: T) => void>();

  get size(): number {
    return this.#again.size + this.#first.size;
  }

  /** What `serve` hands over, or a rejection with the reason of the first signal that aborts. */
  join(signals: readonly (AbortSignal | undefined)[] = [], isAgain = false): Promise<T> {
    const line = isAgain ? this.#again : this.#first;
    return new Promise((resolve, reject) => {
      const stops = signals.map((signal) => onAbort(signal, leave));
      line.add(served);

      function served(value: T): void {
        for (const stop of stops) stop();
        resolve(value);
      }
      function leave(reason: unknown): void {
        line.delete(served);
        for (const stop of stops) stop();
        reject(reason);
      }
    });
  }

  /** Hands `value` to the next in line, which must exist. */
  serve(value: T): void {
    const line = this.#again.size > 0 ? this.#again : this.#first;
    const [next] = line;
    line.delete(next!);
    next!(value);
  }
}
