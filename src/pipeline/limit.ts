import pLimit from 'p-limit';
import type { Stop } from './stop.ts';

/** Slots shared by everything that a run does at the same time. */
export interface Limit {
  /** One piece of work, as soon as a slot is free. */
  run<R>(work: () => Promise<R>): Promise<R>;
  /** Answers in the order of `items`. After a failure nothing new starts; what runs is waited for, then it throws. */
  map<T, R>(items: readonly T[], work: (item: T, index: number) => Promise<R>): Promise<R[]>;
}

/** At most `workers` pieces of work at once, over all calls together. Work that fails stops the run. */
export function createLimit(workers: number, stop: Stop): Limit {
  const slot = pLimit(workers);
  const guarded = async <R>(work: () => Promise<R>): Promise<R> => {
    stop.signal.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      stop.halt(error);
      throw error;
    }
  };
  return {
    run: (work) => slot(() => guarded(work)),
    async map(items, work) {
      const running = items.map((item, index) => slot(() => guarded(() => work(item, index))));
      await Promise.allSettled(running); // replies that are on their way get kept, whatever happened to others
      stop.signal.throwIfAborted();
      return Promise.all(running);
    },
  };
}
