import type { Item } from './env.ts';
import type { RolloutResult } from './rollout-result.ts';

/** One attempt at one task. */
export type RolloutAttempt = {
  /** A hash of everything that the score depends on: the same key is the same attempt. */
  readonly key: string;
  readonly skill: string;
  readonly item: Item;
  /** Which draw of the item. */
  readonly sampleIndex: number;
};

/**
 * Makes the attempts of a run somewhere else, such as in other processes. Without one a run makes them itself. Environments
 * with `rolloutMany` always run in this process.
 */
export interface RolloutRunner {
  /**
   * A task whose code throws is a result. Throws `ModelCallError` when a model could not be reached, which is no score, and
   * anything else when the run must stop. Once the signal is aborted, its reason.
   */
  run(attempt: RolloutAttempt, signal: AbortSignal): Promise<RolloutResult>;
}
