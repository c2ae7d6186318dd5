import { onAbort } from './on-abort.ts';

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
