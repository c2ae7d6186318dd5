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
