import { type Item, type RolloutResult, SkillError } from '../../core/contracts/index.ts';

type MatchOptions = {
  /** The environment that gave the results, for messages. */
  readonly name: string;
  /** Whether results with ids of their own stand for the items in their order. */
  readonly isOrdered: boolean;
};

/** Each item's result by the item's id. Throws `ENV_INVALID` unless there is exactly one for each. */
export function matchResults(
  items: readonly Item[],
  results: readonly RolloutResult[],
  { name, isOrdered }: MatchOptions,
): Map<string, RolloutResult> {
  if (results.length !== items.length) {
    throw mismatch(name, `expected ${items.length} results, got ${results.length}`);
  }
  const ids = new Set(items.map((item) => item.id));
  const strangers = results.filter((result) => !ids.has(result.id));
  if (isOrdered && strangers.length === results.length) return byPosition(items, results);
  if (strangers[0]) throw mismatch(name, `no item of the batch has the id "${strangers[0].id}"`);
  const found = new Map(results.map((result) => [result.id, result]));
  const missing = items.find((item) => !found.has(item.id));
  if (missing) throw mismatch(name, `there are two results with one id, and none for "${missing.id}"`);
  return found;
}

/** The episode's own id is kept among the extras. */
function byPosition(items: readonly Item[], results: readonly RolloutResult[]): Map<string, RolloutResult> {
  const renamed = results.map((result, index) => ({
    ...result,
    id: items[index]!.id,
    extras: { episodeId: result.id, ...result.extras },
  }));
  return new Map(renamed.map((result) => [result.id, result]));
}

function mismatch(name: string, problem: string): SkillError {
  return new SkillError('ENV_INVALID', `${name}: rollout gave results that do not fit its batch: ${problem}`, {
    hint: 'Give one result per item, with the id of the item.',
  });
}
