import { untilAborted } from './until-aborted.ts';

type Flight<T> = { readonly promise: Promise<T>; readonly signal: AbortSignal | undefined };

/**
 * Work under the same key is done once for all who ask while it is under way. Who aborts stops waiting; if that was
 * the one whose work it is, another who waits does it again. Nothing is kept after it has ended.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async run(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key);
    if (!flight) return this.#start(key, signal, work);
    try {
      return await untilAborted(flight.promise, signal);
    } catch (error) {
      const isGivenUp = flight.signal?.aborted && !signal?.aborted;
      if (!isGivenUp) throw error;
    }
    return this.run(key, signal, work);
  }

  async #start(key: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const promise = work();
    this.#flights.set(key, { promise, signal });
    try {
      return await promise;
    } finally {
      this.#flights.delete(key);
    }
  }
}
