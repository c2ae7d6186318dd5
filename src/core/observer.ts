import type { Progress, RunEvent } from './event.ts';
import type { RunState } from './state.ts';

/** Watches a run. Told after an event is safe on disk; can neither change nor break the run. */
export interface RunObserver {
  /** Told once, first: what the run already holds. */
  onOpen?(state: RunState): void;
  onEvent?(event: RunEvent, state: RunState): void;
  onProgress?(progress: Progress): void;
  /** A model call that is about to be tried again. */
  onRetry?(retry: { readonly error: Error; readonly attempt: number; readonly delayMs: number }): void;
  onWarning?(message: string): void;
}
