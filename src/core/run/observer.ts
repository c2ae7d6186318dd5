import type { RolloutResult } from '../rollout-result.ts';
import type { RunEvent } from './event.ts';
import type { RunState } from './run-state.ts';
import type { Stage } from './step-action.ts';

/** What became of a provider's limit: more or fewer calls at once from now on, or none for a while. */
export type RateLimitChange =
  | { readonly type: 'limit'; readonly reason: 'raised' | 'cut'; readonly calls: number }
  | { readonly type: 'pause'; readonly reason: 'asked' | 'refused'; readonly pauseMs: number };

/** Single rollouts and calls as they finish. Not journaled, and never needed to resume. */
export type Progress = {
  readonly phase: 'baseline' | Stage | 'salvage' | 'removal' | 'slow update' | 'prune' | 'final measurement' | 'test';
  readonly step: number;
  readonly done: number;
  readonly total: number;
  /** The result that just came in, when the phase rolls out tasks. */
  readonly result?: Pick<RolloutResult, 'id' | 'hard' | 'soft' | 'errored'>;
};

/** What agents have spent since the run was opened, attempts under way included. Dollars as far as a price is known. */
export type AgentsSpent = { readonly calls: number; readonly costUsd: number };

/** Watches a run. Notified after an event is safe on disk; can neither change nor break the run. */
export interface RunObserver {
  /** Called once, first: with what the run already holds. */
  onOpen?(state: RunState): void;
  onEvent?(event: RunEvent, state: RunState): void;
  onProgress?(progress: Progress): void;
  /** At each call of an agent's model. What events say of it comes later, and counts. */
  onSpend?(spent: AgentsSpent): void;
  /** A model call that is about to be tried again. */
  onRetry?(retry: { readonly error: Error; readonly attempt: number; readonly delayMs: number }): void;
  /** A provider takes more or fewer calls at once from now on, or none for a while. */
  onRateLimit?(change: RateLimitChange & { readonly account: string }): void;
  onWarning?(message: string): void;
}
