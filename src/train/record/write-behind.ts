export type WriteBehind = {
  /** Does the work after all that was asked for before. Rejects when it fails, or when anything before it did. */
  write(work: () => Promise<void>): Promise<void>;
  /** Does what cannot fail after all writes so far; at once, when none is under way. */
  tell(work: () => void): void;
  /** Resolves once all is written. */
  done(): Promise<void>;
};

/**
 * Writes in the order of the calls, one after the other, while the run continues. After a failure nothing more is written, and
 * `onFailure` is called once: nobody may be waiting.
 */
export function createWriteBehind(onFailure: (error: unknown) => void): WriteBehind {
  let last = Promise.resolve();
  let underWay = 0;
  let hasFailed = false;
  const fail = (error: unknown) => {
    if (!hasFailed) onFailure(error);
    hasFailed = true;
  };
  const add = (work: () => unknown): Promise<void> => {
    underWay++;
    last = last.then(work).then(() => void underWay--);
    last.catch(fail);
    return last;
  };
  return {
    write: add,
    tell: (work) => (underWay === 0 ? work() : void add(work)),
    done: () => last,
  };
}
