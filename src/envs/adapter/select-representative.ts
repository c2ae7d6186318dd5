import { type RolloutResult, shuffle } from '../../core/contracts/index.ts';
import { byTaskType } from '../split/by-task-type.ts';

export type Selection = {
  readonly failures: number;
  readonly successes: number;
  readonly seed: number;
};

/**
 * A few results that stand for the rest: failures first, then successes, of each as many task types as there is room
 * for. A function of the results and the seed. What errored stands for nothing.
 */
export function selectRepresentative(
  results: readonly RolloutResult[],
  { failures, successes, seed }: Selection,
): RolloutResult[] {
  const scored = shuffle(
    results.filter((result) => !result.errored),
    seed,
  );
  const failed = scored.filter((result) => result.hard < 1e-9); // as the analysts count it
  const succeeded = scored.filter((result) => !failed.includes(result));
  return [...takeInTurn(failed, failures), ...takeInTurn(succeeded, successes)];
}

/** One of each type, then a second of each, until there are `count`. */
function takeInTurn(results: readonly RolloutResult[], count: number): RolloutResult[] {
  const groups = byTaskType(results);
  const longest = Math.max(0, ...groups.map((group) => group.length));
  const turns = Array.from({ length: longest }, (_, turn) => groups.flatMap((group) => group[turn] ?? []));
  return turns.flat().slice(0, count);
}
