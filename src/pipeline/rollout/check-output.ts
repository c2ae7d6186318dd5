import { z } from 'zod';
import { type Item, type RolloutOutput, RolloutResult } from '../../core/contracts/index.ts';

/** The result as the cache would give it back, so that a resumed run sees what the first one saw. */
export function checkOutput(item: Item, output: RolloutOutput, by = 'rolloutOne'): RolloutResult {
  const missing = output?.unjudged ? { errored: true } : {};
  const checked = RolloutResult.safeParse({ ...output, ...missing, id: item.id });
  if (checked.success) return JSON.parse(JSON.stringify(checked.data));
  throw new Error(`${by} gave an unusable result: ${z.prettifyError(checked.error).replaceAll('\n', ' ')}`);
}

/** A task whose environment's code failed has failed. */
export function thrownBy({ id }: Item, error: unknown): RolloutResult {
  const failReason = error instanceof Error ? error.message : String(error);
  return { id, hard: 0, soft: 0, failReason, threw: true };
}
