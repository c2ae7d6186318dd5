import type { StageDeps } from './stage-deps.ts';

interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  readonly expiry: Promise<never>;
}

/** A signal for the task that fires when its time is up or the run gives up; `expiry` rejects at the same moment. */
export function createDeadline({ stop, rolloutTimeoutMs }: Pick<StageDeps, 'stop' | 'rolloutTimeoutMs'>): Deadline {
  const controller = new AbortController();
  const { promise: expiry, reject } = withReject();
  const end = (reason: unknown) => {
    reject(reason); // first: what a task answers to its abort is too late to count
    controller.abort(reason);
  };
  const abandon = () => end(stop.abandon.reason);
  const timer = setTimeout(() => end(new Error(`timed out after ${rolloutTimeoutMs / 1000} s`)), rolloutTimeoutMs);
  stop.abandon.addEventListener('abort', abandon);
  return {
    signal: controller.signal,
    expiry,
    [Symbol.dispose]() {
      clearTimeout(timer);
      stop.abandon.removeEventListener('abort', abandon);
    },
  };
}

/** A promise that only ever rejects, and whose rejection may go unheard. */
function withReject(): { promise: Promise<never>; reject: (reason: unknown) => void } {
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<never>((_, no) => {
    reject = no;
  });
  promise.catch(() => {});
  return { promise, reject };
}
