import type { TextCache } from '../core/cache.ts';
import type { RolloutResult } from '../core/rollout-result.ts';

/** A cache may let a text wait for others before it is safe, unless it is told that somebody waits for it. */
export type RolloutCache = TextCache & { flush?(): void };

/**
 * Scored rollouts of one stage. Saving one keeps no other waiting: its replies are safe already, so that a crash before
 * it is saved costs no call. `saved` resolves once all are safe.
 */
export function rolloutMemory(rollouts: RolloutCache | undefined) {
  const saves: Promise<void>[] = [];
  const save = (key: string, result: RolloutResult) => {
    if (!rollouts || result.errored) return;
    const saving = rollouts.set(key, JSON.stringify(result));
    saving.catch(() => {}); // heard in `saved`
    saves.push(saving);
  };
  return {
    async recall(key: string, work: () => Promise<RolloutResult>): Promise<RolloutResult> {
      const known = await rollouts?.get(key);
      if (known !== undefined) return JSON.parse(known);
      const result = await work();
      save(key, result);
      return result;
    },
    async saved(): Promise<void> {
      rollouts?.flush?.();
      await Promise.all(saves);
    },
  };
}
