import { setMaxListeners } from 'node:events';

/** Calls `listener` with the reason once `signal` aborts, at once if it has. The returned function stops listening. */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  if (signal.aborted) {
    listener(signal.reason);
    return () => {};
  }
  // Every call in flight may listen to the run's one signal: many listeners are no leak, and Node would print a warning.
  // Not 0, which means the same: undici asks for the number, and Node then takes a signal with 0 for something else.
  setMaxListeners(Number.POSITIVE_INFINITY, signal);
  const handle = () => listener(signal.reason);
  signal.addEventListener('abort', handle, { once: true });
  return () => signal.removeEventListener('abort', handle);
}
