import { untilAborted } from '../on-abort.ts';

type Flight<T> = { readonly promise: Promise<T>; readonly controller: AbortController; waiting: number };

/**
 * Work under the same key is done once for all callers that ask while it is under way. A caller that aborts stops waiting;
 * the work itself is aborted when no caller waits any more. Nothing is kept after it has ended.
 */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  async run(key: string, signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    const flight = this.#flights.get(key) ?? this.#start(key, work);
    flight.waiting++;
    try {
      return await untilAborted(flight.promise, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0) this.#end(key, flight, signal);
    }
  }

  #start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const controller = new AbortController();
    const flight = { promise: work(controller.signal), controller, waiting: 0 };
    this.#flights.set(key, flight);
    return flight;
  }

  #end(key: string, flight: Flight<T>, lastSignal: AbortSignal | undefined): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
    if (lastSignal?.aborted) flight.controller.abort(lastSignal.reason);
  }
}
