import { setMaxListeners } from 'node:events';

/** How a run ends early: nothing new is started at once; what is in flight may finish, but not for long. */
export interface Stop extends Disposable {
  /** Aborted as soon as the run should stop: start nothing, end every wait. */
  readonly signal: AbortSignal;
  /** Aborted `drainMs` later: give up on what is still in flight. */
  readonly abandon: AbortSignal;
  /** Stops the run because of `error`. The first reason stays. */
  halt(error: unknown): void;
}

/** A stop that follows `signal`. Replies that are already paid for get `drainMs` to arrive and be kept. */
export function createStop(signal?: AbortSignal, drainMs = 10_000): Stop {
  const [soft, hard] = [new AbortController(), new AbortController()];
  setMaxListeners(0, soft.signal, hard.signal); // every call in flight listens, and that is no leak
  let timer: NodeJS.Timeout | undefined;
  const halt = (error: unknown) => {
    if (soft.signal.aborted) return;
    soft.abort(error);
    timer = setTimeout(() => hard.abort(error), drainMs);
    timer.unref();
  };
  const follow = () => halt(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow);
  return {
    signal: soft.signal,
    abandon: hard.signal,
    halt,
    [Symbol.dispose]() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', follow);
    },
  };
}
