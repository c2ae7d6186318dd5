import { setTimeout as sleep } from 'node:timers/promises';

export type PauseOptions = {
  /** Longest pause, also when the provider asks for more. */
  readonly maxPauseMs?: number;
  readonly now?: () => number;
  readonly delay?: (ms: number, signal: AbortSignal) => Promise<unknown>;
};

/** A time during which nothing starts. */
export interface Pause {
  /** Whether it lasts. If so, `onEnd` is called when it has ended. */
  isOn(): boolean;
  /** Lasts for `ms` from now. Answers with the pause that this brought, or 0 when a longer one is under way. */
  start(ms: number): number;
  /** Nobody waits for its end any more: no timer keeps the process alive, and `onEnd` is not called. */
  forget(): void;
}

export function createPause(onEnd: () => void, options: PauseOptions = {}): Pause {
  const { maxPauseMs = 120_000, now = Date.now, delay = wait } = options;
  let until = Number.NEGATIVE_INFINITY;
  let alarm: AbortController | undefined;

  function setAlarm(ms: number): void {
    if (alarm !== undefined) return;
    const controller = new AbortController();
    alarm = controller;
    const ring = () => {
      if (controller.signal.aborted) return;
      alarm = undefined;
      onEnd();
    };
    delay(ms, controller.signal).then(ring, ring);
  }

  return {
    isOn() {
      const leftMs = until - now();
      if (leftMs > 0) setAlarm(leftMs);
      return leftMs > 0;
    },
    start(ms) {
      const pauseMs = Math.min(ms, maxPauseMs);
      if (now() + pauseMs <= until) return 0;
      until = now() + pauseMs;
      return pauseMs;
    },
    forget() {
      alarm?.abort();
      alarm = undefined;
    },
  };
}

/** Timers may ring early by a fraction of a millisecond. */
function wait(ms: number, signal: AbortSignal): Promise<unknown> {
  return sleep(Math.ceil(ms) + 1, undefined, { signal });
}
