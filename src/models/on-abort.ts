import { setMaxListeners } from 'node:events';

/** Calls `listener` with the reason once `signal` aborts, at once if it has. The returned function stops listening. */
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
 * Every call in flight may listen to the run's one signal: many listeners are no leak, and Node would print a warning.
 * Most signals are listened to once, and are spared this: it costs more than the listening.
 */
function expectMany(signal: AbortSignal): void {
  const times = (listenedTo.get(signal) ?? 0) + 1;
  if (times <= 2) listenedTo.set(signal, times);
  // Not 0, which means the same: undici asks for the number, and Node then takes a signal with 0 for something else.
  if (times === 2) setMaxListeners(Number.POSITIVE_INFINITY, signal);
}

/** What `promise` becomes, or a rejection with the signal's reason as soon as it aborts, whatever `promise` does then. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stopListening = onAbort(signal, reject);
    // Not `finally`: two promises more for each call.
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

type LinkedController = { readonly controller: AbortController; release(): void };

/**
 * A controller that aborts when any of `signals` does, with the same reason, until it is released. In place of
 * `AbortSignal.any`, whose composites stay reachable from a run's long-lived signal call after call.
 */
export function linkedController(...signals: readonly (AbortSignal | undefined)[]): LinkedController {
  const controller = new AbortController();
  const links = signals.map((signal) => onAbort(signal, (reason) => controller.abort(reason)));
  return {
    controller,
    release() {
      for (const unlink of links) unlink();
    },
  };
}

type Signals = readonly (AbortSignal | undefined)[];

/** First come, first served, except that callers that come again are served before. A caller that aborts leaves the line. */
export class WaitingLine<T> {
  readonly #again = new Set<(value: T) => void>();
  readonly #first = new Set<(value: T) => void>();

  get size(): number {
    return this.#again.size + this.#first.size;
  }

  /** What `serve` hands over, or a rejection with the reason of the first signal that aborts. */
  join(signals: Signals = [], isAgain = false): Promise<T> {
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
