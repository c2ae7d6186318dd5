import type { Progress, RunEvent } from './event.ts';
import type { RunState } from './run-state.ts';

/** What became of a provider's limit: more or fewer calls at once from now on, or none for a while. */
export type RateLimitChange =
  | { readonly type: 'limit'; readonly reason: 'raised' | 'cut'; readonly calls: number }
  | { readonly type: 'pause'; readonly reason: 'asked' | 'refused'; readonly pauseMs: number };

/** Watches a run. Told after an event is safe on disk; can neither change nor break the run. */
export interface RunObserver {
  /** Told once, first: what the run already holds. */
  onOpen?(state: RunState): void;
  onEvent?(event: RunEvent, state: RunState): void;
  onProgress?(progress: Progress): void;
  /** A model call that is about to be tried again. */
  onRetry?(retry: { readonly error: Error; readonly attempt: number; readonly delayMs: number }): void;
  /** A provider takes more or fewer calls at once from now on, or none for a while. */
  onRateLimit?(change: RateLimitChange & { readonly account: string }): void;
  onWarning?(message: string): void;
}
